package seam

import "quarry/ecs"

// Structural changes of several groups of entities, worked out beforehand and made together.

// OutcomeOf returns the outcome of entities of an archetype that nothing is done to.
func OutcomeOf(a *ecs.Archetype) Outcome { return ecs.Inside(key).OutcomeOf(a) }

// OutcomeOfCopies returns the outcome of copies of an archetype's entities, see World.Instantiate.
// It makes the archetype that the copies come to when there is none; the error is a
// *ecs.LimitError.
func OutcomeOfCopies(a *ecs.Archetype) (Outcome, error) { return ecs.Inside(key).OutcomeOfCopies(a) }

// Destruction returns the change that World.Destroy makes of an entity, members of its group left
// alone.
func Destruction(w *ecs.World) *ecs.Change { return ecs.Inside(key).Destruction(w) }

// After returns what becomes of an outcome when a change follows it. What was removed before and is
// added by the change begins anew. It makes the archetype that the entities come to when there is
// none; the error is a *ecs.LimitError.
func After(o Outcome, c *ecs.Change) (Outcome, error) { return ecs.Inside(key).After(o, c) }

// At returns the archetype that the entities come to, nil when they end.
func At(o *Outcome) *ecs.Archetype { return ecs.Inside(key).At(o) }

// Stays reports whether the entities stay as they are.
func Stays(o *Outcome) bool { return ecs.Inside(key).Stays(o) }

// Begin begins a transaction of a world; op is for errors. Create, Copy and Move add groups,
// Reserve makes room for all of them, Run makes, copies, moves or ends the entities of one, and
// Finish ends the transaction.
func Begin(t *Transaction, w *ecs.World, op string) { ecs.Inside(key).Begin(t, w, op) }

// Create adds a group of n new entities of an outcome, all zero.
func Create(t *Transaction, o *Outcome, n int) { ecs.Inside(key).Create(t, o, n) }

// Copy adds a group of n copies of e and of the entities linked to it, see World.InstantiateN;
// those of e have an outcome that OutcomeOfCopies began. It panics when e is not alive, or of
// another archetype than the outcome's.
func Copy(t *Transaction, e ecs.Entity, o *Outcome, n int) { ecs.Inside(key).Copy(t, e, o, n) }

// Move adds a group of entities that are alive, of the archetype that an outcome began with, and in
// no other group.
func Move(t *Transaction, list []ecs.Entity, o *Outcome) { ecs.Inside(key).Move(t, list, o) }

// Reserve makes room for the rows of all groups, for blocks of their buffers and for ids. The error
// is a *ecs.LimitError; nothing has changed then, and the transaction is over. From Begin to Finish
// the world is locked; after Reserve rows of batches may be written.
func Reserve(t *Transaction) error { return ecs.Inside(key).Reserve(t) }

// Run does what is to be done to a group, counted from 0 in the order in which groups were added.
// Copies run before moves. The batch is the group's rows, good until the next Run or Finish: of
// copies those of the first member come first; of entities that end it is empty.
func Run(t *Transaction, group int) ecs.Batch { return ecs.Inside(key).Run(t, group) }

// Finish ends the transaction. It panics unless all groups have run.
func Finish(t *Transaction) { ecs.Inside(key).Finish(t) }
