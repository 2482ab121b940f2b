package seam

import (
	"quarry/ecs"
	"quarry/internal/seam/under"
)

// MaxPlaceholders is the number of placeholders of a command buffer.
const MaxPlaceholders = under.MaxPlaceholders

// Facts is what registration said of a type.
type Facts = under.Facts

// Link is an entity in a value, or an array of elements that have some.
type Link = under.Link

// Outcome is what changes, one after the other, make of entities of an archetype. It is a value.
type Outcome = ecs.Outcome

// Transaction is a structural change of several groups of entities, all or none. The zero value is
// ready for Begin.
type Transaction = ecs.Transaction

// key has no size: nothing of it is passed.
var key under.Key

// TypeIndex returns a type's number among those of the world, in order of registration and in [0,
// ecs.MaxTypes). It panics for a type of another world. Any goroutine may call it.
func TypeIndex(w *ecs.World, t ecs.Type) int { return ecs.Inside(key).TypeIndex(w, t) }

// FactsOf returns the facts of a type. It panics for nil and for a zero handle. Any goroutine may
// call it.
func FactsOf(t ecs.Type) Facts { return ecs.Inside(key).FactsOf(t) }

// ArchetypesOf writes the archetype of each entity of a list to dst, which is as long: nil where it
// is not alive. It panics for an entity of another world. Their waits for memory overlap, so of
// hundreds in no order it is faster than World.Locate.
func ArchetypesOf(w *ecs.World, dst []*ecs.Archetype, list []ecs.Entity) {
	ecs.Inside(key).ArchetypesOf(w, dst, list)
}

// CheckChange is how the structural change op begins, for what consists of several: it ends all
// borrows of queries, and panics in a loop, in a share and when the world is closed.
func CheckChange(w *ecs.World, op string) { ecs.Inside(key).CheckChange(w, op) }

// EndBorrows ends all borrows of queries that are out, by the wait of each, as a structural change
// does first; op is for its messages. So what their goroutines use beside the world may change
// then. Loops may call it. A borrow of everything stays, and a closed world has none.
func EndBorrows(w *ecs.World, op string) { ecs.Inside(key).EndBorrows(w, op) }

// Locked reports whether a loop over rows or a share is under way, so that structural changes
// panic. Borrows of queries do not lock: they are ended first. A closed world is locked.
func Locked(w *ecs.World) bool { return ecs.Inside(key).Locked(w) }

// Shared reports whether everything is borrowed, by World.Share.
func Shared(w *ecs.World) bool { return ecs.Inside(key).Shared(w) }

// PinSince is Query.SetSince for good: until SetSince is called, loops that end and borrows that
// begin neither move Since nor advance the world's version. It serves a caller that moves the
// version of many queries at once, and runs each any number of times in between. It panics while
// the world is shared.
func PinSince(q *ecs.Query, version uint32) { ecs.Inside(key).PinSince(q, version) }

// Looks returns the types whose enable bits or versions decide which rows match: what Matches,
// Count, Empty and the like read. It is a part of Query.Access.
func Looks(q *ecs.Query) ecs.Access { return ecs.Inside(key).Looks(q) }

// Hold adds to the number of chunks of the world's universe that command buffers hold, for what
// World.Close says. Any goroutine may call it.
func Hold(w *ecs.World, chunks int) { ecs.Inside(key).Hold(w, chunks) }

// Filters reports whether the query has Changed or Ordered terms.
func Filters(q *ecs.Query) bool { return ecs.Inside(key).Filters(q) }

// MatchesArchetype reports whether entities of an archetype can match, and whether enable bits
// decide then which of them do. Changed and Ordered terms are not asked. It panics for an archetype
// that is nil or of another world.
func MatchesArchetype(q *ecs.Query, a *ecs.Archetype) (matches, bits bool) {
	return ecs.Inside(key).MatchesArchetype(q, a)
}

// Writes reports whether a term lets loops write a type.
func Writes(t ecs.Term) bool { return ecs.Inside(key).Writes(t) }

// Join adds to a what b reads and writes.
func Join(a, b *ecs.Access) { ecs.Inside(key).Join(a, b) }

// Conflicts reports whether the two may not go on at once: one of them writes a type that the other
// reads or writes. World.Conflicts says which types.
func Conflicts(a, b *ecs.Access) bool { return ecs.Inside(key).Conflicts(a, b) }

// Placeholder returns the number'th placeholder of a command buffer. It names no entity of any
// world: look-ups and changes panic for it. It panics for a number that is not in [0,
// MaxPlaceholders).
func Placeholder(number int, buffer uint32) ecs.Entity {
	return ecs.Inside(key).Placeholder(number, buffer)
}

// Number returns the number and the buffer of a placeholder.
func Number(e ecs.Entity) (number int, buffer uint32) { return ecs.Inside(key).Number(e) }

// NewBorrow makes a borrow of what q declares, and for look-ups of any entity of the types of uses,
// which are Read and Write terms. name is for messages, "job move". A structural change that is
// asked for while the borrow is out calls wait on its goroutine, with its name as Component.Add;
// wait ends the borrow, or panics. It panics for a use that the query declares too, unless both
// only read; for a type of another world; and for a wait that is nil.
func NewBorrow(q *ecs.Query, name string, wait func(op string), uses ...ecs.Term) *ecs.Borrow {
	return ecs.Inside(key).NewBorrow(q, name, wait, uses)
}
