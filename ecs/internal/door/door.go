package door

import (
	"fmt"
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/delta"
	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/snapshot"
	"quarry/ecs/internal/world"
)

// World returns the core of a world.
func World(w *ecs.World) *world.World { return (*world.World)(unsafe.Pointer(w)) } // Safe because a World is its core.

// Archetype returns the core of an archetype.
func Archetype(a *ecs.Archetype) *world.Archetype {
	return (*world.Archetype)(unsafe.Pointer(a)) // Safe because an Archetype is its core.
}

// Change returns the core of a change.
func Change(c *ecs.Change) *edit.Change {
	return (*edit.Change)(unsafe.Pointer(c)) // Safe because a Change is its core.
}

// Snapshot returns the core of a snapshot.
func Snapshot(s *ecs.Snapshot) *snapshot.Snapshot {
	return (*snapshot.Snapshot)(unsafe.Pointer(s)) // Safe because a Snapshot is its core.
}

func core(q *ecs.Query) *query.Query { return (*query.Query)(unsafe.Pointer(q)) } // Safe because a Query is its core.

// WorldOf returns the query's world, or nil if the query is nil or closed.
func WorldOf(q *ecs.Query) *ecs.World {
	if q == nil || core(q).Matching == nil {
		return nil
	}
	return (*ecs.World)(unsafe.Pointer(core(q).World)) // Safe because a World is its core.
}

func access(a *ecs.Access) *world.Access {
	return (*world.Access)(unsafe.Pointer(a)) // Safe because an Access is its core.
}

// At returns the archetype that entities with an outcome move to, or nil if they end.
func At(o *edit.Outcome) *ecs.Archetype {
	return (*ecs.Archetype)(unsafe.Pointer(o.Archetype())) // Safe because an Archetype is its core.
}

// Batch returns the face of a batch.
func Batch(b edit.Batch) ecs.Batch { return *(*ecs.Batch)(unsafe.Pointer(&b)) } // Safe because a Batch is its core.

// Borrow returns the core of a borrow.
func Borrow(b *ecs.Borrow) *query.Borrow {
	return (*query.Borrow)(unsafe.Pointer(b)) // Safe because a Borrow is its core.
}

// Access returns the types that a borrow reads and writes: the access of its query and of its uses.
func Access(b *ecs.Borrow) (a ecs.Access) {
	*access(&a) = Borrow(b).Access
	return a
}

// Accessor returns the face of an accessor.
func Accessor(r *query.Accessor) *ecs.Accessor {
	return (*ecs.Accessor)(unsafe.Pointer(r)) // Safe because an Accessor is its core.
}

// Rows returns the face of rows.
func Rows(r query.Rows) ecs.Rows { return *(*ecs.Rows)(unsafe.Pointer(&r)) } // Safe because a Rows is its core.

// IDs views entities as ids.
func IDs(list []ecs.Entity) []entity.ID {
	// Safe because an Entity is an ID.
	return unsafe.Slice((*entity.ID)(unsafe.SliceData(list)), len(list))
}

// onCore is f for the cores of worlds.
func onCore(f func(*ecs.World)) func(*world.World) {
	return func(w *world.World) { f((*ecs.World)(unsafe.Pointer(w))) } // Safe because a World is its core.
}

// info returns the core of a type that is not nil; nil for a zero handle.
var info = world.TypeOfHandle.(func(t ecs.Type) *world.Type)

// typeOf is info, and panics for nil.
func typeOf(op string, t ecs.Type) *world.Type {
	if t == nil {
		panic("ecs: " + op + ": a type is nil")
	}
	return info(t)
}

// TypeIndex returns the number of a type in its world, in order of registration and in [0,
// world.MaxTypes). It returns -1 for a nil or zero handle and for a type of another world. Any
// goroutine may call it.
func TypeIndex(w *ecs.World, t ecs.Type) int {
	if t == nil {
		return -1
	}
	return World(w).IndexOf(info(t))
}

// ComponentIndex is TypeIndex for a component, without a call through an interface.
func ComponentIndex[T any](w *ecs.World, c ecs.Component[T]) int {
	return World(w).IndexOf(*(**world.Type)(unsafe.Pointer(&c))) // Safe because a handle is its type.
}

// BufferIndex is TypeIndex for a buffer, likewise.
func BufferIndex[T any](w *ecs.World, b ecs.Buffer[T]) int {
	return World(w).IndexOf(*(**world.Type)(unsafe.Pointer(&b))) // Safe because a handle is its type.
}

// FactsOf returns the facts of a type. It panics for nil and for a zero handle. Any goroutine may
// call it.
func FactsOf(t ecs.Type) world.Facts { return typeOf("door.FactsOf", t).Facts() }

// ArchetypesOf writes the archetype of each entity of list to dst, which has the same length; nil
// for an entity that is not alive. It panics for an entity of another world. The waits for memory
// overlap, so for hundreds of entities in random order it is faster than World.Locate.
func ArchetypesOf(w *ecs.World, dst []*ecs.Archetype, list []ecs.Entity) {
	// Safe because an Archetype is its core.
	World(w).ArchetypesOf(unsafe.Slice((**world.Archetype)(unsafe.Pointer(unsafe.SliceData(dst))), len(dst)), IDs(list))
}

// CheckChange begins the structural change op of a caller that makes several. It ends all borrows
// of queries. It panics in a loop, while the world is lent and if the world is closed.
func CheckChange(w *ecs.World, op string) { World(w).CheckChange(op) }

// EndBorrows ends all borrows of queries by calling the wait of each, as a structural change does
// first; op is for its messages. Afterwards state that their goroutines use beside the world may
// change. Loops may call it. It leaves a World.Lend alone, and does nothing for a closed world.
func EndBorrows(w *ecs.World, op string) { World(w).EndBorrows(op) }

// Locked reports whether structural changes panic, because a loop over rows or a loan is under way
// or the world is closed. Borrows of queries do not lock the world: a structural change ends them
// first.
func Locked(w *ecs.World) bool { return World(w).Locked() }

// EndCursors ends the loops of cursors that the world's owner has left open, the innermost first,
// and returns their queries in this order.
func EndCursors(w *ecs.World) (of []*ecs.Query) {
	for _, q := range query.EndCursors(World(w)) {
		of = append(of, (*ecs.Query)(unsafe.Pointer(q))) // Safe because a Query is its core.
	}
	return of
}

// PinSince is Query.SetSince that lasts: until SetSince is called, neither the end of a loop nor
// the start of a borrow moves Since or advances the world's version. Used by schedulers that
// advance many queries together and run each any number of times. It panics while the world is
// shared.
func PinSince(q *ecs.Query, version uint32) { core(q).SetSince("door.PinSince", version, true) }

// Looks returns the types whose enable bits or versions decide which rows match. It is the part of
// Query.Access that Matches, Count, Empty and similar methods read.
func Looks(q *ecs.Query) (a ecs.Access) {
	*access(&a) = core(q).Accesses("door.Looks", true)
	return a
}

// Hold adds to the number of chunks of the world's universe that command buffers hold, which
// World.Close reports. Any goroutine may call it.
func Hold(w *ecs.World, chunks int) { World(w).Recorded.Add(int64(chunks)) }

// RecordingsOf returns the recordings of a world. Any goroutine may call it.
func RecordingsOf(w *ecs.World) *world.Recordings { return World(w).RecordingsOf() }

// Keep makes World.Close an error that names what is to be closed before, such as "the journal in
// town"; with nil the world can be closed again. Any goroutine may call it.
func Keep(w *ecs.World, by *string) { World(w).Keeper.Store(by) }

// Filters reports whether the query has Changed, Ordered or Between terms.
func Filters(q *ecs.Query) bool { return core(q).FiltersChunks() }

// MatchesArchetype reports whether entities of an archetype can match, and whether enable bits then
// decide which of them do. It ignores Changed and Ordered terms. It panics for an archetype that is
// nil or of another world.
func MatchesArchetype(q *ecs.Query, a *ecs.Archetype) (matches, bits bool) {
	return core(q).MatchesArchetype(Archetype(a))
}

// Writes reports whether loops may write the type of a term.
func Writes(t ecs.Term) bool { return (*query.Term)(unsafe.Pointer(&t)).Writes() } // Safe because a Term is its core.

// Join adds the access of b to a.
func Join(a, b *ecs.Access) { access(a).Join(access(b)) }

// Conflicts reports whether two accesses exclude each other, because one writes a type that the
// other reads or writes. World.Conflicts returns the types.
func Conflicts(a, b *ecs.Access) bool { return access(a).Conflicts(access(b)) }

// moveResult is an ecs.MoveResult.
type moveResult struct {
	batch    edit.Batch
	arrivals edit.Arrivals
}

var _ = [1]struct{}{}[unsafe.Sizeof(moveResult{})-unsafe.Sizeof(ecs.MoveResult{})] // they have the same fields

// MoveQuery is World.MoveQuery whose result is m, a zero one or that of an earlier move, which
// ends. What it made for that is used again, so that moves of worlds of one size make no large
// objects in Go memory. After an error m is the result of no move.
func MoveQuery(w *ecs.World, q *ecs.Query, m *ecs.MoveResult) (err error) {
	to := (*moveResult)(unsafe.Pointer(m)) // Safe because the two have the same fields.
	to.batch, err = edit.MoveMatches(World(w), core(q), &to.arrivals)
	return err
}

// Placeholder returns the placeholder of a command buffer with a number. It names no entity of any
// world: look-ups and changes panic for it. Placeholder panics if number is not in [0,
// world.MaxPlaceholders).
func Placeholder(number int, buffer uint32) ecs.Entity {
	if uint(number) >= world.MaxPlaceholders {
		panic(fmt.Sprintf("ecs: door.Placeholder: number %d is not in [0, %d)", number, world.MaxPlaceholders))
	}
	return ecs.Entity(entity.MakePlaceholder(uint32(number), buffer))
}

// Number returns the number of a placeholder and the number of its buffer.
func Number(e ecs.Entity) (number int, buffer uint32) {
	n, buffer := entity.ID(e).Placeholder()
	return int(n), buffer
}

// NewBorrow returns a borrow of the types that q declares. It also covers look-ups, for any entity,
// of the types in uses, which are Read and Write terms. name is for messages, such as "job move". A
// structural change while the borrow is out calls wait on the changing goroutine, with the name of
// the change, such as Component.Add; wait ends the borrow or panics. NewBorrow panics for a use
// that the query declares too, unless both only read; for a type of another world; and if wait is
// nil.
func NewBorrow(q *ecs.Query, name string, wait func(op string), uses ...ecs.Term) *ecs.Borrow {
	// Safe because a Term and a Borrow are their cores.
	terms := unsafe.Slice((*query.Term)(unsafe.Pointer(unsafe.SliceData(uses))), len(uses))
	return (*ecs.Borrow)(unsafe.Pointer(query.NewBorrow(core(q), name, wait, terms...)))
}

// Destruction returns the change that World.Destroy makes of an entity, without the members of its
// group.
func Destruction(w *ecs.World) *ecs.Change {
	return (*ecs.Change)(unsafe.Pointer(edit.Destruction(World(w)))) // Safe because a Change is its core.
}

// AppendDelta appends to dst what ecs.EncodeDelta would write of ecs.Diff of two snapshots. The
// error is that of Diff; then dst is as before. Any goroutine may call it, with a spare of its own.
// Cost: proportional to the pieces of 1 KiB that were written in between, if no entity came, went
// or moved and there are no entries of sparse types; else that of Diff.
func AppendDelta(dst []byte, older, newer *ecs.Snapshot, spare *delta.Spare) ([]byte, error) {
	return delta.AppendDelta(dst, Snapshot(older), Snapshot(newer), spare)
}
