package ecs

import (
	"quarry/alloc"
	"quarry/ecs/internal/world"
	"quarry/internal/universe/door"
)

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

// DefaultChunkGrowth returns the default policy by which archetypes take units of 16 KiB: their
// number doubles, by at most 64 units at a time. As long as 64 KiB suffice there is a single chunk
// of 2, 16, 32 or 64 KiB, so a thousand rows of 40 bytes lie in one piece. Further chunks have 4,
// 8, 16 ... 64 units.
func DefaultChunkGrowth() alloc.Growth { return door.Growth(world.DefaultGrowth()) }

// ChunkGrowth sets the policy that decides how many units of 16 KiB an archetype has after it
// grows. The units that it takes at once come as few large chunks, of 1 to 64 units, so the policy
// also decides how large chunks become: DefaultChunkGrowth, the default, yields chunks of up to 64
// units, and alloc.Fixed(1) only chunks of 16 KiB. Loops over data larger than the cache run faster
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
// Entities tell worlds apart by 4 bits. With up to 16 worlds open at once each has bits of its own,
// and an entity of another is refused. With more, one of another world in sixteen has the same
// bits, and is taken for the entity of this world that has the same index and version, if one is
// alive. Debug builds find that too: there versions of worlds with the same bits start 4,194,304
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
// others still hold chunks of the world's own universe, the error wraps alloc.ErrInUse and says how
// many of the chunks command buffers hold. If memory belongs to no entity's buffer, the error wraps
// alloc.ErrLeak and gives the number of blocks, as it does after the third case: the file that the
// world was opened from was cut, which is a *mmap.FaultError. The fourth is that the system refuses
// to take its memory back.
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
		Reserved: w.core.IDs.Reserved(), Alive: w.inner().Living(), Created: w.core.Rows.Created, Destroyed: w.core.Rows.Destroyed,
		Archetypes: len(w.core.Archetypes.List), Small: w.core.Tables.SmallChunks().Live(), Shared: w.core.Tables.SmallChunks().Chunks(),
	}
	s.Buffers, s.Spilled = w.core.Buffers.Use()
	for _, a := range w.core.Archetypes.List {
		s.Chunks += a.Table.Store.Units()
		s.Reserve += a.Table.Store.Reserve()
	}
	return s
}
