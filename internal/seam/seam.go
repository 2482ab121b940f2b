package seam

import (
	"quarry/ecs"
	"quarry/internal/seam/under"
)

// MaxPlaceholders is the number of placeholders of a command buffer.
const MaxPlaceholders = under.MaxPlaceholders

// Facts is what was declared about a type at its registration.
type Facts = under.Facts

// Link is the place of an entity in a value, or of an array of elements that hold entities.
type Link = under.Link

// Outcome is the combined effect of successive changes on entities of one archetype. It is a value.
type Outcome = ecs.Outcome

// Transaction is a structural change of several groups of entities, made as a whole or not at all.
// The zero value is ready for Begin.
type Transaction = ecs.Transaction

// key has no size, so passing it costs nothing.
var key under.Key

// TypeIndex returns the number of a type in its world, in order of registration and in [0,
// ecs.MaxTypes). It returns -1 for a nil or zero handle and for a type of another world. Any
// goroutine may call it.
func TypeIndex(w *ecs.World, t ecs.Type) int { return ecs.Inside(key).TypeIndex(w, t) }

// FactsOf returns the facts of a type. It panics for nil and for a zero handle. Any goroutine may
// call it.
func FactsOf(t ecs.Type) Facts { return ecs.Inside(key).FactsOf(t) }

// ArchetypesOf writes the archetype of each entity of list to dst, which has the same length; nil
// for an entity that is not alive. It panics for an entity of another world. The waits for memory
// overlap, so for hundreds of entities in random order it is faster than World.Locate.
func ArchetypesOf(w *ecs.World, dst []*ecs.Archetype, list []ecs.Entity) {
	ecs.Inside(key).ArchetypesOf(w, dst, list)
}

// CheckChange begins the structural change op of a caller that makes several. It ends all borrows
// of queries. It panics in a loop, in a share and if the world is closed.
func CheckChange(w *ecs.World, op string) { ecs.Inside(key).CheckChange(w, op) }

// EndBorrows ends all borrows of queries by calling the wait of each, as a structural change does
// first; op is for its messages. Afterwards state that their goroutines use beside the world may
// change. Loops may call it. It leaves a World.Share alone, and does nothing for a closed world.
func EndBorrows(w *ecs.World, op string) { ecs.Inside(key).EndBorrows(w, op) }

// Locked reports whether structural changes panic, because a loop over rows or a share is under way
// or the world is closed. Borrows of queries do not lock the world: a structural change ends them
// first.
func Locked(w *ecs.World) bool { return ecs.Inside(key).Locked(w) }

// PinSince is Query.SetSince that lasts: until SetSince is called, neither the end of a loop nor
// the start of a borrow moves Since or advances the world's version. Used by schedulers that
// advance many queries together and run each any number of times. It panics while the world is
// shared.
func PinSince(q *ecs.Query, version uint32) { ecs.Inside(key).PinSince(q, version) }

// Looks returns the types whose enable bits or versions decide which rows match. It is the part of
// Query.Access that Matches, Count, Empty and similar methods read.
func Looks(q *ecs.Query) ecs.Access { return ecs.Inside(key).Looks(q) }

// Hold adds to the number of chunks of the world's universe that command buffers hold, which
// World.Close reports. Any goroutine may call it.
func Hold(w *ecs.World, chunks int) { ecs.Inside(key).Hold(w, chunks) }

// Recordings are what names entities of a world now and uses them later.
type Recordings = under.Recordings

// Recording is one of them.
type Recording = under.Recording

// Judge tells whether an entity that a recording named is still the same.
type Judge = under.Judge

// RecordingsOf returns the recordings of a world. Any goroutine may call it.
func RecordingsOf(w *ecs.World) *Recordings { return ecs.Inside(key).RecordingsOf(w) }

// Keep makes World.Close an error that names what is to be closed before, such as "the journal in
// town"; with nil the world can be closed again. Any goroutine may call it.
func Keep(w *ecs.World, by *string) { ecs.Inside(key).Keep(w, by) }

// Filters reports whether the query has Changed, Ordered or Between terms.
func Filters(q *ecs.Query) bool { return ecs.Inside(key).Filters(q) }

// MatchesArchetype reports whether entities of an archetype can match, and whether enable bits then
// decide which of them do. It ignores Changed and Ordered terms. It panics for an archetype that is
// nil or of another world.
func MatchesArchetype(q *ecs.Query, a *ecs.Archetype) (matches, bits bool) {
	return ecs.Inside(key).MatchesArchetype(q, a)
}

// Writes reports whether loops may write the type of a term.
func Writes(t ecs.Term) bool { return ecs.Inside(key).Writes(t) }

// Join adds the access of b to a.
func Join(a, b *ecs.Access) { ecs.Inside(key).Join(a, b) }

// Conflicts reports whether two accesses exclude each other, because one writes a type that the
// other reads or writes. World.Conflicts says which types.
func Conflicts(a, b *ecs.Access) bool { return ecs.Inside(key).Conflicts(a, b) }

// MoveQuery is World.MoveQuery whose result is m, a zero one or that of an earlier move, which
// ends. What it made for that is used again, so that moves of worlds of one size make no large
// objects in Go memory. After an error m is the result of no move.
func MoveQuery(w *ecs.World, q *ecs.Query, m *ecs.MoveResult) error {
	return ecs.Inside(key).MoveQuery(w, q, m)
}

// Placeholder returns the placeholder of a command buffer with a number. It names no entity of any
// world: look-ups and changes panic for it. Placeholder panics if number is not in [0,
// MaxPlaceholders).
func Placeholder(number int, buffer uint32) ecs.Entity {
	return ecs.Inside(key).Placeholder(number, buffer)
}

// Number returns the number of a placeholder and the number of its buffer.
func Number(e ecs.Entity) (number int, buffer uint32) { return ecs.Inside(key).Number(e) }

// NewBorrow returns a borrow of the types that q declares. It also covers look-ups, for any entity,
// of the types in uses, which are Read and Write terms. name is for messages, such as "job move". A
// structural change while the borrow is out calls wait on the changing goroutine, with the name of
// the change, such as Component.Add; wait ends the borrow or panics. NewBorrow panics for a use
// that the query declares too, unless both only read; for a type of another world; and if wait is
// nil.
func NewBorrow(q *ecs.Query, name string, wait func(op string), uses ...ecs.Term) *ecs.Borrow {
	return ecs.Inside(key).NewBorrow(q, name, wait, uses)
}
