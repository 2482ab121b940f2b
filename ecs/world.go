package ecs

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/match"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
)

// The world.
//
// An entity is an index into the records (ecs/internal/entity), which say in which chunk
// and row its components are. A chunk belongs to the table of one archetype (ecs/internal/table);
// the owners say to which, and where in the table's list it stands.
// So the path goes record -> owner -> archetype -> column -> row, and only the record and
// the row itself are cold memory; look-ups of one type have a shorter one (lookup.go):
//
//	Entity 12v3          owners[chunk]            archetype 7
//	  | index 12           | archetype 7, pos 2     | place[type] = offset 3,264
//	  v                    v                        v
//	record{3, chunk|row} ------------------> base + chunk*16 KiB + 3,264 + row*16
//
// Invariants, checked by Verify:
//
//	W1 Every alive record leads to a row that holds that entity, and every row
//	   to a record that leads back.
//	W4 created - destroyed is the number of rows of all archetypes.
//	W7 The buffers of all rows are sound, and the heap has no blocks but theirs: H1 to H3 of
//	   package value.
//	W8 Every name is that of an entity that is alive, and is listed where Named
//	   looks.
//	W10 Every slot in a row is in use in the store of its type and stands in no other row, and
//	   the stores have no other slots in use: S1 to S3 of package value.
//	W12 Entities that are Dying have a Cleanup type.
//	W2, W3, W6, W9 and L1 of package table, W11 of value.go, R1-R9 of package
//	entity, M1-M5 of package match, L2 of lookup.go.

// World owns entities and their components. One goroutine at a time may use it;
// Reserve and Unreserve any may call at any time but during Close, and during a Phase
// several may read.
type World struct {
	u    *alloc.Universe
	own  bool           // the universe is ours to close
	base unsafe.Pointer // address of the universe's chunk 0

	growth alloc.Growth // of the number of chunks of an archetype
	tables table.Tables // what the archetypes' tables have in common

	ids        entity.Store
	shown      entity.View // of ids, that look-ups have
	buffers    value.Buffers
	names      *names // nil until the first name
	types      registry
	archetypes catalogue
	index      match.Index // which archetypes queries ask for, and those of each shared value
	news       news        // what queries have not seen yet
	dies       *Change     // what Destroy does to entities that are more than rows
	loops      loops       // under way
	call       call        // that is under way, and what it leaves for the next
	epoch      uint64      // structural changes so far
	created    uint64
	destroyed  uint64
	closed     bool
}

// Option changes how NewWorld works.
type Option func(*World)

// WithUniverse makes the world take its chunks from u, made with an [alloc.Size] of
// your own, say. It may serve others too and is closed by you, after the world.
func WithUniverse(u *alloc.Universe) Option {
	if u == nil {
		panic("ecs: WithUniverse: the universe is nil")
	}
	return func(w *World) { w.u = u }
}

// checkOptions panics for an option that is nil.
func checkOptions(op string, options []Option) {
	for _, o := range options {
		if o == nil {
			panic("ecs: " + op + ": an option is nil")
		}
	}
}

// DefaultChunkGrowth is how archetypes take units of 16 KiB unless told otherwise: they
// double, by at most 64. While 64 KiB suffice there is one chunk, of 2, 16, 32 or 64 KiB,
// so a thousand rows of 40 bytes lie in one piece; then others come, of 4, 8, 16 ... 64 units.
func DefaultChunkGrowth() alloc.Growth {
	return alloc.Doubling().Capped(alloc.ChunksPerMegachunk)
}

// ChunkGrowth sets how many units of 16 KiB an archetype has after it must grow.
// What it takes at once comes as few large chunks, of 1 to 64 units, so the policy
// also says how large chunks get: the default, DefaultChunkGrowth, gives chunks of up to
// 64 units, and alloc.Fixed(1) only chunks of 16 KiB. Policies that multiply begin
// with a small chunk of 2 KiB, an eighth of a unit, that they do not count, where the rows
// fit. Its rows are copied when it is outgrown, as are those of an only chunk of 16 or 32
// KiB where a larger one can be had. An archetype that empties keeps a small chunk.
// Loops over data beyond the cache want large chunks; versions, which are per
// chunk, are finer with small ones. Units without rows are the archetype's reserve,
// which is cut when it is more than twice what the policy would add. So entities that
// come and go at the border of a chunk do not go to the universe each time.
func ChunkGrowth(g alloc.Growth) Option { return func(w *World) { w.growth = g } }

// NewWorld makes an empty world, with a universe of its own of the default size
// unless WithUniverse is given. An error wraps those of alloc.NewUniverse.
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
			return nil, fmt.Errorf("ecs: NewWorld: a universe of its own (ecs.WithUniverse takes one of another size): %w", err)
		}
		w.u, w.own = u, true
	}
	if err := w.buffers.Open(w.u, w.Trim); err != nil {
		return nil, fmt.Errorf("ecs: NewWorld: %w", err)
	}
	w.base = w.u.Base()
	w.ids.Open(w.u, tags.Take(0))
	w.tables.Open(w.u, w.growth, &w.ids, table.Calls{Trim: w.Trim, Replanned: w.replan})
	w.index.Open()
	w.registerBuiltIn()
	return w, nil
}

// Close frees everything that the world holds; handles, rows and pointers into
// it are void. It is an error when others still hold chunks of the world's own universe, which
// wraps alloc.ErrInUse, when the system refuses to take its memory back, and when there is memory that
// belongs to no entity's buffer, which wraps alloc.ErrLeak and counts the blocks. The world is
// closed all the same. A second call tries again to give back the universe, and does nothing
// when that is done. It panics during iteration.
func (w *World) Close() error {
	if w.closed {
		return w.closeUniverse() // it may have been in use the first time
	}
	w.checkUnlocked("World.Close")
	w.freeBuffers()
	for _, t := range w.types.list {
		if t.managed != nil {
			t.managed.Drop()
		}
		if t.shared != nil {
			t.shared.Drop()
		}
	}
	for _, a := range w.archetypes.list {
		a.table.End()
		*a = Archetype{w: w, table: a.table}
	}
	err := errors.Join(w.ids.Close(), w.buffers.Close())
	if err != nil {
		err = fmt.Errorf("ecs: World.Close: %w", err)
	}
	err = errors.Join(err, w.closeUniverse())
	tags.Give(w.ids.Tag())
	w.closed, w.base, w.names = true, nil, nil
	w.news.unshared = never
	w.tables.Close()
	w.index.Close()
	w.loops.open++ // a loop that never ends
	for _, t := range w.types.list {
		t.view = entity.View{}
	}
	w.epoch++ // views are void
	return err
}

func (w *World) closeUniverse() error {
	if !w.own {
		return nil
	}
	if err := w.u.Close(); err != nil {
		return fmt.Errorf("ecs: World.Close: %w", err)
	}
	return nil
}

// Closed reports whether the world was closed.
func (w *World) Closed() bool { return w.closed }

// Trim gives the archetypes' reserves and what the spilled buffers left behind back
// to the universe, for others that take chunks from it, and returns how many chunks
// that were; what ended managed values left behind it gives back to Go. It moves no rows, so loops may call it. It does nothing to a closed
// world.
func (w *World) Trim() (chunks int) {
	if w.closed {
		return 0
	}
	w.Settle("World.Trim")
	shelf := w.tables.Shelf().Chunks()
	for _, a := range w.archetypes.list {
		chunks += a.table.Grid.Trim(0)
	}
	chunks += shelf - w.tables.Shelf().Chunks()
	w.tables.Trim()
	if w.loops.phase == nil { // others may read the tables of pages
		w.trimManaged()
	}
	return chunks + w.buffers.Trim()
}

// Universe returns the universe that the world takes its chunks from.
func (w *World) Universe() *alloc.Universe { return w.u }

// Alive reports whether e names an entity of this world that was created and
// not destroyed.
func (w *World) Alive(e Entity) bool { return w.find(e) != nil }

// Stats describes a world.
type Stats struct {
	Alive      int    // entities alive
	Reserved   int    // ids promised by Reserve, not created or given back yet
	Created    uint64 // entities ever created
	Destroyed  uint64 // entities ever destroyed
	Archetypes int    // sets of types seen
	Chunks     int    // units of 16 KiB in the chunks that hold rows, small ones not counted
	Reserve    int    // units that archetypes keep without rows, see ChunkGrowth
	Small      int    // small chunks of 2 KiB, with rows or kept without
	Shared     int    // units of 16 KiB that they share
	Buffers    int    // buffers whose elements have spilled to the heap
}

// Stats counts, in time proportional to the number of archetypes. A closed world
// has nothing.
func (w *World) Stats() Stats {
	if w.closed {
		return Stats{}
	}
	s := Stats{
		Reserved: w.ids.Promised(), Alive: int(w.created - w.destroyed), Created: w.created, Destroyed: w.destroyed,
		Archetypes: len(w.archetypes.list), Buffers: w.buffers.Live(), Small: w.tables.Shelf().Live(), Shared: w.tables.Shelf().Chunks(),
	}
	for _, a := range w.archetypes.list {
		s.Chunks += a.table.Grid.Units()
		s.Reserve += a.table.Grid.Reserve()
	}
	return s
}

// checkUnlocked panics while a loop over rows is under way: a structural change
// would move what the loop stands on. So it does for ever in a closed world, see Close. For
// loans it waits.
func (w *World) checkUnlocked(op string) {
	if w == nil || w.loops.open != 0 {
		w.unlock(op)
	}
}

//go:noinline
func (w *World) refuse(op string) { panic(w.refusal(op)) }

// unmade says of a method's receiver that nobody made it. Those that are not here
// are made by what makes a Component.
var unmade = map[string]string{
	"World":        "the world is nil or the zero value; worlds come from NewWorld",
	"Archetype":    "the archetype is the zero value; archetypes come from NewArchetype",
	"Change":       "the change is the zero value; changes come from NewChange",
	"Managed":      "the handle is the zero value; handles come from RegisterManaged",
	"Lookup":       "the look-up is the zero value; look-ups come from Component.Lookup",
	"BufferLookup": "the look-up is the zero value; look-ups come from Buffer.Lookup",
	"Component":    "the handle is the zero value; handles come from Register and RegisterBuffer",
}

// refusal says why a call is refused.
func (w *World) refusal(op string) string {
	if w == nil {
		receiver, _, _ := strings.Cut(op, ".")
		return "ecs: " + op + ": " + cmp.Or(unmade[receiver], unmade["Component"])
	}
	if w.closed {
		return "ecs: " + op + ": the world is closed"
	}
	w.checkUnshared(op)
	return fmt.Sprintf("ecs: %s: structural change %s; gather the entities and change them after the loop",
		op, w.loop())
}

// checkNew panics unless something can be made in the world.
func (w *World) checkNew(op string) {
	if w == nil || w.u == nil {
		panic("ecs: " + op + ": " + unmade["World"])
	}
	if w.closed {
		w.refuse(op)
	}
}
