package ecs

import (
	"time"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/world"
	"quarry/internal/clock"
	"quarry/internal/universe/door"
)

// World owns entities and their components. Only one goroutine at a time may use it, with two
// exceptions: any goroutine may call Reserve and Unreserve, except during Close, and several
// goroutines may read between Lend and Borrow.End.
type World struct{ core world.World }

func (w *World) inner() *world.World  { return (*world.World)(unsafe.Pointer(w)) } // Safe because a World is its core.
func worldFrom(w *world.World) *World { return (*World)(unsafe.Pointer(w)) }       // Safe because a World is its core.

// Closed reports whether the world has been closed.
func (w *World) Closed() bool { return w.core.Closed }

// Universe returns the universe from which the world takes its chunks.
func (w *World) Universe() *alloc.Universe { return door.Face(w.core.Universe) }

// Option is an option of NewWorld.
type Option func(*World)

// WithUniverse makes the world take its chunks from u, for example a universe made with a larger
// [alloc.Size]. The universe may serve other users too. The caller closes it, after the world.
func WithUniverse(u *alloc.Universe) Option {
	if u == nil {
		panic("ecs: WithUniverse: the universe is nil")
	}
	return func(w *World) { w.core.Universe = door.Universe(u) }
}

// checkOptions panics for a nil option.
func checkOptions(op string, options []Option) {
	for _, o := range options {
		if o == nil {
			panic("ecs: " + op + ": an option is nil")
		}
	}
}

// ChunkGrowth sets the policy that decides how many units of 16 KiB an archetype has after it
// grows. The units that it takes at once come as few large chunks, of 1 to 64 units, so the policy
// also decides how large chunks become: alloc.Fixed(1) yields only chunks of 16 KiB. The default is
// alloc.Doubling().Capped(64): as long as 64 KiB suffice there is a single chunk of 2, 16, 32 or 64
// KiB, so a thousand rows of 40 bytes lie in one piece; further chunks have 4, 8, 16 ... 64 units.
// Loops over data larger than the cache run faster
// over large chunks; versions, which are per chunk, are finer with small chunks.
//
// Policies that multiply begin with a small chunk of 2 KiB, an eighth of a unit, if the rows fit.
// The policy does not count it. When the archetype outgrows it, its rows are copied; so are the
// rows of a single chunk of 16 or 32 KiB if a larger chunk is available. An archetype that becomes
// empty keeps a small chunk.
//
// Units without rows are the archetype's reserve. The reserve is cut if it exceeds twice what the
// policy would add. So entities that come and go at the end of a chunk do not go to the universe
// each time.
func ChunkGrowth(g alloc.Growth) Option { return func(w *World) { w.core.Growth = door.Policy(g) } }

// NewWorld creates an empty world. It has a universe of its own, of the default size, unless
// WithUniverse is given. An error wraps one from alloc.NewUniverse.
//
// Entities of different worlds differ in 4 bits. With up to 16 worlds open at once each has bits of
// its own, and an entity of another is refused. With more, one of another world in sixteen has the
// same bits, and is taken for the entity of this world that has the same index and version, if one
// is alive. Debug builds find that too: there versions of worlds with the same bits start 4,194,304
// apart, so an entity of another world made by NewWorld is not alive in this one. Its version then
// depends on how many worlds are open.
func NewWorld(options ...Option) (*World, error) {
	checkOptions("NewWorld", options)
	made, err := world.NewWorld(onCore(allOf(options)))
	return worldFrom(made), err
}

// allOf returns the options as one.
func allOf(options []Option) func(*World) {
	return func(w *World) {
		for _, o := range options {
			o(w)
		}
	}
}

// Close frees everything that the world holds. Handles, rows and pointers into the world become
// invalid. A world whose journal (package ecs/journal) is open stays open: the error names the
// journal, which is to be closed first.
//
// Otherwise the world is closed even if Close returns an error, which it does in four cases. If
// others still hold chunks of the world's own universe, the error wraps alloc.ErrInUse and has the
// number of chunks that command buffers hold. If memory belongs to no entity's buffer, the error
// wraps alloc.ErrLeak and gives the number of blocks, as it does after the third case: the file
// that the world was opened from was cut, which is a *mmap.FaultError. The fourth is that the
// system refuses to take its memory back.
//
// A second call retries the release of the universe, and does nothing once that is done. Close
// closes the world's snapshots. It panics inside a loop over rows and where Snapshot.Close does,
// while goroutines read.
func (w *World) Close() error { return w.inner().Close() }

// Stats describes a world.
type Stats struct {
	Alive      int    // entities alive
	Reserved   int    // ids reserved by Reserve, neither created nor given back yet
	Created    uint64 // entities ever created
	Destroyed  uint64 // entities ever destroyed
	Archetypes int    // archetypes that the world has
	Chunks     int    // units of 16 KiB in chunks with rows, not counting small chunks
	Reserve    int    // units that archetypes keep without rows, see ChunkGrowth
	Small      int    // small chunks of 2 KiB, with rows, kept without, or of a snapshot alone
	Shared     int    // units of 16 KiB that hold the small chunks
	Buffers    int    // buffers whose elements have spilled to the heap
	Spilled    int    // bytes of the blocks that hold those elements, or what a snapshot has of them
}

// Stats returns the world's statistics, in time proportional to the number of archetypes and of the
// chunks that hold spilled elements. For a closed world it returns zeros.
func (w *World) Stats() Stats {
	w.inner().CheckMade("World.Stats")
	if w.core.Closed {
		return Stats{}
	}
	s := Stats{
		Reserved: w.core.IDs.Reserved(), Alive: w.inner().Living(), Created: w.core.Writer.Created,
		Destroyed:  w.core.Writer.Destroyed,
		Archetypes: len(w.core.Archetypes.List), Small: w.core.Tables.SmallChunks().Live(),
		Shared: w.core.Tables.SmallChunks().Chunks(),
	}
	s.Buffers, s.Spilled = w.core.Buffers.Use()
	for _, a := range w.core.Archetypes.List {
		s.Chunks += a.Table.Store.Units()
		s.Reserve += a.Table.Store.Reserve()
	}
	return s
}

// Shrink gives memory left behind by rows that are gone back to the world's universe. The universe
// gives it to the system after a while, see alloc.Universe.Maintain, or at once by its Trim. Shrink
// does what Trim does and, in addition, replaces the partly full last chunk of an archetype by a
// smaller chunk if the rows fit; shrinks blocks of spilled buffers that are at most half full; and
// retires archetypes without rows that NewArchetype has not returned, see World.Stats. Entities,
// values, enable bits, the order of rows and versions stay. If the system has no memory for a
// smaller replacement, the larger one stays.
//
// Shrink works in steps. It returns true when everything is done, and false when the budget is used
// up; the next call then resumes. A budget of 0 or less means no limit, and starts over. A call
// performs at least one step, and only its last step may exceed the budget. A step covers the rows
// of one chunk, at most 512 KiB, and about 1 MiB of buffer elements; the last step is a Trim and a
// visit to each archetype.
//
// Shrink is a structural change: it panics inside a loop over rows, and invalidates earlier batches
// and views.
func (w *World) Shrink(budget time.Duration) (done bool) {
	w.inner().CheckUnlocked("World.Shrink")
	return w.inner().Shrink(budget, clock.Now)
}

// Trim returns the archetypes' reserves and the memory left behind by spilled buffers to the
// universe, for other users of the universe. It returns the number of chunks freed. It also returns
// the memory of ended managed values to Go and, outside of loops, what sparse sets have too much,
// both uncounted. Trim moves no rows, so loops may call it; outside of loops it moves values of
// sparse types. It does nothing for a closed world.
func (w *World) Trim() (chunks int) { return w.inner().Trim() }

// Hash returns a 64-bit hash of all living entities: of each archetype with rows the types, the
// entities, and the fields, enable bits and buffers of their components; and the entries of sparse
// types. The order of rows within an archetype counts. Neither the order of archetypes counts, by
// which queries go, nor the order in which types were registered or entries added, nor how rows are
// cut into chunks. A type counts by kind, package and name; types of one name, as functions declare
// them, are distinguished by the order of registration. Padding, capacities, memory addresses and
// the world's tag in entities do not count, so two worlds that went through the same operations
// have the same hash. Indices and versions of entities count, so a world whose entities were
// created anew from a file has another hash. Floats count by their bits. In shared values,
// pointers, channels and the contents of interfaces do not count. Values of managed types do not
// count at all, because Go values have no stable bytes, nor do those of chunk types. A closed world
// has the hash of an empty one. The hash is the same on every platform with little-endian numbers;
// its definition is in docs/semantics.md. Cost: it reads every row, at the speed of memory where it
// need not mask padding or entities, by two goroutines where there is more than 1 MiB.
func (w *World) Hash() uint64 { return w.inner().Hash() }

// Verify checks the numbered invariants of the world, of its heap and, if the world owns its
// universe, of the universe. It returns an error that names the first invariant violated, or nil.
// It reads every record and row. Goroutines may read snapshots and reserve ids meanwhile; what they
// see for the first time, and what they reserve, waits.
func (w *World) Verify() error { return w.inner().Verify() }
