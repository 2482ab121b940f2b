package seam

import "quarry/ecs"

// Structural changes of several groups of entities, which are planned first and then made together.

// OutcomeOf returns the outcome of entities of an archetype without any change.
func OutcomeOf(a *ecs.Archetype) Outcome { return ecs.Inside(key).OutcomeOf(a) }

// OutcomeOfCopies returns the outcome of copies of an archetype's entities; see World.Instantiate.
// It makes the archetype of the copies if there is none; the error is a *ecs.LimitError.
func OutcomeOfCopies(a *ecs.Archetype) (Outcome, error) { return ecs.Inside(key).OutcomeOfCopies(a) }

// Destruction returns the change that World.Destroy makes of an entity, without the members of its
// group.
func Destruction(w *ecs.World) *ecs.Change { return ecs.Inside(key).Destruction(w) }

// After returns the outcome of o followed by c. A type that was removed earlier and is added by c
// starts anew. After makes the archetype of the result if there is none; the error is a
// *ecs.LimitError.
func After(o Outcome, c *ecs.Change) (Outcome, error) { return ecs.Inside(key).After(o, c) }

// At returns the archetype that the entities move to, or nil if they end.
func At(o *Outcome) *ecs.Archetype { return ecs.Inside(key).At(o) }

// Stays reports whether the outcome leaves the entities unchanged.
func Stays(o *Outcome) bool { return ecs.Inside(key).Stays(o) }

// Begin begins a transaction; op is for errors. Create, Copy and Move add groups, Reserve makes
// room for all of them, Run executes one group, and Finish ends the transaction.
func Begin(t *Transaction, w *ecs.World, op string) { ecs.Inside(key).Begin(t, w, op) }

// Create adds a group of n new entities with outcome o, all zero.
func Create(t *Transaction, o *Outcome, n int) { ecs.Inside(key).Create(t, o, n) }

// Copy adds a group of n copies of e and of the entities linked to it; see World.InstantiateN. The
// copies of e get outcome o, which began with OutcomeOfCopies. Copy panics if e is not alive, or
// not of the archetype that o began with.
func Copy(t *Transaction, e ecs.Entity, o *Outcome, n int) { ecs.Inside(key).Copy(t, e, o, n) }

// Move adds a group of live entities that get outcome o. All must be of the archetype that o began
// with, and in no other group.
func Move(t *Transaction, list []ecs.Entity, o *Outcome) { ecs.Inside(key).Move(t, list, o) }

// Reserve makes room for the rows of all groups, for blocks of their buffers and for ids. The error
// is a *ecs.LimitError; then nothing has changed and the transaction is over. The world is locked
// from Begin to Finish. After Reserve the rows of batches may be written.
func Reserve(t *Transaction) error { return ecs.Inside(key).Reserve(t) }

// ChangesEntries reports whether a change adds or removes sparse types, which no outcome has.
func ChangesEntries(c *ecs.Change) bool { return ecs.Inside(key).ChangesEntries(c) }

// ExpectChange announces, before Reserve, that Enter of a change will be called for n entities.
func ExpectChange(t *Transaction, c *ecs.Change, n int) { ecs.Inside(key).ExpectChange(t, c, n) }

// Enter makes the part of a change that is about sparse types, for the entities of a list that are
// alive, after Finish. ExpectChange has announced them.
func Enter(c *ecs.Change, list []ecs.Entity) { ecs.Inside(key).Enter(c, list) }

// Run executes one group, numbered from 0 in the order of adding. Copies run before moves. The
// batch has the group's rows and is valid until the next Run or Finish. For copies, the copies of
// the first member come first; for entities that end, the batch is empty.
func Run(t *Transaction, group int) ecs.Batch { return ecs.Inside(key).Run(t, group) }

// Finish ends the transaction. It panics unless all groups have run.
func Finish(t *Transaction) { ecs.Inside(key).Finish(t) }
