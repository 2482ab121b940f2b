package ecs

import (
	"errors"
	"fmt"

	"quarry/alloc"
	"quarry/ecs/internal/change"
	"quarry/ecs/internal/name"
	"quarry/ecs/internal/table"
	"quarry/internal/debug"
)

// The life of a world: the options that create it, and the opening and closing of the parts that
// world.go declares.

// Option is an option of NewWorld.
type Option func(*World)

// WithUniverse makes the world take its chunks from u, for example a universe made with a larger
// [alloc.Size]. The universe may serve other users too. The caller closes it, after the world.
func WithUniverse(u *alloc.Universe) Option {
	if u == nil {
		panic("ecs: WithUniverse: the universe is nil")
	}
	return func(w *World) { w.u = u }
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
func DefaultChunkGrowth() alloc.Growth {
	return alloc.Doubling().Capped(alloc.ChunksPerMegachunk)
}

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
func ChunkGrowth(g alloc.Growth) Option { return func(w *World) { w.growth = g } }

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
	w := &World{growth: DefaultChunkGrowth()}
	w.types.open()
	w.archetypes.open()
	w.news = news{matched: 1, unshared: 1}
	w.loops.outer.w, w.loops.scans = w, []*scan{&w.loops.outer}
	for _, o := range options {
		o(w)
	}
	if w.u == nil {
		u, err := alloc.NewUniverse()
		if err != nil {
			// errors.md, Errors: `ecs: NewWorld: ...` | The universe of the world could not be
			// made. | See `ErrReserve` of `alloc`: close worlds, or `ecs.WithUniverse` with a
			// smaller `alloc.Size`.
			return nil, fmt.Errorf("ecs: NewWorld: a universe of its own (ecs.WithUniverse takes one of another size): %w", err)
		}
		w.u, w.own = u, true
	}
	if w.u.Size() == 0 {
		panic("ecs: NewWorld: the universe of WithUniverse is closed")
	}
	trim := w.trim
	w.buffers.Open(w.u, trim)
	w.base = w.u.Base()
	tag, number := tags.TakeApart(0)
	w.ids.Open(w.u, tag)
	if debug.On {
		w.ids.Apart(number)
	}
	w.tables.Open(w.u, w.growth, &w.ids, table.Calls{Trim: trim, Replanned: w.news.replan})
	w.rows.Open(&w.ids, &w.tables, &w.buffers, change.Calls{
		TableAt: func(i uint32) *table.Table { return &w.archetypes.list[i].table.Table },
		Trim:    trim, Records: w.showRecords,
	})
	w.index.Open()
	w.registerBuiltIn()
	return w, nil
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
func (w *World) Close() error {
	w.checkMade("World.Close")
	if w.closed {
		return w.closeUniverse() // it may have been in use the first time
	}
	if by := w.keeper.Load(); by != nil {
		// errors.md, Errors: `ecs: World.Close: ... is open` | The world has a journal that is
		// open. The world stays open. | Close the journal first, then the world.
		return fmt.Errorf("ecs: World.Close: %s is open; close it first", *by)
	}
	w.checkUnlocked("World.Close")
	w.closeSnapshots("World.Close")
	err := w.freeBuffers()
	for _, t := range w.types.list {
		switch t.kind {
		case KindManaged:
			t.managed.Drop()
		case KindShared:
			t.shared.Drop()
		}
	}
	for _, a := range w.archetypes.list {
		a.table.End()
		*a = Archetype{w: w, table: a.table}
	}
	err = errors.Join(err, w.ids.Close(), w.buffers.Close())
	for _, t := range w.types.sparse {
		err = errors.Join(err, t.sparse.Close())
	}
	if err != nil {
		// errors.md, Errors: `ecs: World.Close: ...` | Others hold chunks of the world's universe,
		// there is memory that no buffer owns, or the system refused to take memory back, as it
		// does while it is locked. The world is closed all the same. | Close what else lives there
		// first: command buffers, other worlds. Then `Close` again.
		err = fmt.Errorf("ecs: World.Close: %w", err)
	}
	err = errors.Join(err, w.closeUniverse())
	tags.Give(w.ids.Tag())
	w.closed, w.base, w.names = true, nil, name.Names{}
	w.news.unshared = never
	w.tables.Close()
	w.index.Close()
	w.loops.open++ // a loop that never ends, so that structural changes panic
	for _, t := range w.types.list {
		t.Hide()
	}
	w.rows.Epoch++ // invalidates views
	return err
}

func (w *World) closeUniverse() error {
	if !w.own {
		return nil
	}
	if err := w.u.Close(); err != nil {
		if n := w.recorded.Load(); n > 0 {
			return fmt.Errorf("ecs: World.Close: command buffers that are not closed hold %d chunks, call Buffer.Close first: %w", n, err)
		}
		return fmt.Errorf("ecs: World.Close: %w", err)
	}
	return nil
}

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
	w.checkMade("World.Stats")
	if w.closed {
		return Stats{}
	}
	s := Stats{
		Reserved: w.ids.Promised(), Alive: w.alive(), Created: w.rows.Created, Destroyed: w.rows.Destroyed,
		Archetypes: len(w.archetypes.list), Small: w.tables.SmallChunks().Live(), Shared: w.tables.SmallChunks().Chunks(),
	}
	s.Buffers, s.Spilled = w.buffers.Use()
	for _, a := range w.archetypes.list {
		s.Chunks += a.table.Store.Units()
		s.Reserve += a.table.Store.Reserve()
	}
	return s
}
