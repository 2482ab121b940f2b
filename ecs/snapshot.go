package ecs

import (
	"fmt"
	"sync"
	"sync/atomic"

	"quarry/alloc"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/name"
	"quarry/ecs/internal/past"
	"quarry/ecs/internal/sparse"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
	"quarry/internal/debug"
)

// Snapshot is the state of a world at one moment. Taking it copies no row: whoever writes rows from
// then on has their old bytes kept first, in units of 16 KiB, each of which is copied once. Any
// number of snapshots of a world may be alive.
//
// Rows do not move because of a snapshot, and slices and pointers in hand stay good to read. To
// write, they are taken anew after a snapshot, as after a structural change: a write through an old
// one changes the snapshot too. Debug builds find it and panic, at the latest when the snapshot is
// closed; for that they hash all rows when a snapshot is taken.
//
// Buffers that have spilled move to a new block when they are first opened to write; until the
// snapshot is closed the old one stays, with what it held. Chunks and blocks that are freed
// meanwhile wait until no snapshot has them.
//
// Taking, restoring and closing belong to the world's owner; any goroutine may read.
//
// If there is no memory to keep old bytes, the write goes on and the snapshots that lack the bytes
// are lost: Err says why, and whatever asks them fails with that.
type Snapshot struct {
	w       *World
	layer   *past.Layer
	version uint32 // the world's, when the snapshot was taken; later changes have later ones
	closed  bool
	era     uint64 // of the world's recordings that the snapshot has ended

	archetypes []archetypeState // in order of creation
	sets       []sparse.State   // of the sparse types
	ids        entity.Moment
	names      name.Names
	managed    managedCopies // of the types with CopyWith

	types []*typeInfo // of the world then; read-only
	heap  *alloc.Heap // of spilled buffers; nil: there were none

	created, destroyed uint64

	mu      sync.Mutex   // held while a reader makes what is missing
	frozen  *frozenWorld // what readers see; nil: nobody has read yet
	reading atomic.Int32 // loops and calls of readers that have not ended
}

// archetypeState is an archetype of a snapshot.
type archetypeState struct {
	a      *Archetype
	pinned bool // then
	table  table.State
}

// header is the header of a buffer.
type header = value.Header

// Snapshot takes a snapshot of the world: the state at this moment. It copies what the world knows
// about chunks and ids, not the rows: 16 us for a million entities of 40 bytes on an AMD EPYC, most
// of it for a bit per index. A bit per row and type that can be disabled is copied too, and
// versions of rows, 4 bytes each. Values of managed types with CopyWith are all copied, by a call
// of the function for each, into Go memory. It advances the world's version, and completes jobs.
// Close the snapshot when it is no longer needed.
//
// Snapshot panics inside a loop over rows and while the world is shared. Goroutines may reserve ids
// meanwhile.
func (w *World) Snapshot() *Snapshot {
	const op = "World.Snapshot"
	w.checkNew(op)
	w.checkUnlocked(op)
	h := w.openHistory()
	if debug.On {
		h.checkNewest()
	}
	s := &Snapshot{w: w}
	s.reuse(h)
	s.copyManaged(op)
	if len(h.alive) == 0 {
		w.wake(h)
	}
	s.layer, s.version = h.past.Begin(), w.tables.Version
	s.take()
	return s
}

// copyManaged copies the managed values. If a copy function panics, the snapshot is closed.
func (s *Snapshot) copyManaged(op string) {
	done := false
	defer func() {
		switch h := s.w.history; {
		case done:
		case s.layer == nil || s.closed:
			h.spare = append(h.spare, s.end())
		default:
			s.close()
		}
	}()
	s.managed.take(s.w, op, nil)
	done = true
}

// take notes the world's state, for which a layer has begun.
func (s *Snapshot) take() {
	w := s.w
	s.note(w)
	s.era = w.recordings.Snapshot()
	if debug.On {
		s.notePieces()
	}
	w.history.alive = append(w.history.alive, s)
	w.Advance()
	w.rows.Epoch++ // views and batches are taken anew
}

// Renew closes the snapshot, unless it is closed, and takes it anew: what World.Snapshot would
// return, in the same memory. A ring of snapshots that are renewed allocates nothing, but for what
// functions of CopyWith allocate. It panics where World.Snapshot and Close do. After a panic of
// such a function the snapshot is closed.
func (s *Snapshot) Renew() {
	const op = "Snapshot.Renew"
	s.check(op)
	w := s.w
	w.checkNew(op)
	w.checkUnlocked(op)
	s.checkUnread(op)
	h := w.history
	if debug.On {
		h.checkNewest()
		s.checkPieces()
	}
	if s.closed {
		s.reuse(h)
	}
	s.copyManaged(op)
	if len(h.alive) == 0 {
		w.wake(h)
	}
	if !s.closed {
		s.thaw()
		h.drop(s)
	}
	s.layer.Again()
	s.closed, s.version = false, w.tables.Version
	h.sweep(w)
	s.take()
}

// note copies what the world knows besides its rows.
func (s *Snapshot) note(w *World) {
	list := w.archetypes.list
	for len(s.archetypes) < len(list) {
		s.archetypes = append(s.archetypes, archetypeState{})
	}
	s.archetypes = s.archetypes[:len(list)]
	for i, a := range list {
		s.archetypes[i].a, s.archetypes[i].pinned = a, a.pinned
		a.table.Save(&s.archetypes[i].table)
	}
	for len(s.sets) < len(w.types.sparse) {
		s.sets = append(s.sets, sparse.State{})
	}
	s.sets = s.sets[:len(w.types.sparse)]
	for i, t := range w.types.sparse {
		t.sparse.Save(&s.sets[i])
	}
	w.reserving.Lock()
	w.ids.Save(&s.ids, s.layer.Number())
	w.reserving.Unlock()
	s.created, s.destroyed = w.rows.Created, w.rows.Destroyed
	s.types, s.heap = w.types.list, w.buffers.Heap()
	s.names = w.names.Share()
}

// Close ends the snapshot and frees what it alone has. It panics inside a loop over rows, and while
// a goroutine loops over the snapshot's rows or is in Hash, Verify or Diff; a second call does
// nothing. Goroutines that look up by LookupIn, or walk a Delta, are not noticed: they must be
// done.
func (s *Snapshot) Close() {
	s.check("Snapshot.Close")
	if s.closed {
		return
	}
	s.w.checkUnlocked("Snapshot.Close")
	s.checkUnread("Snapshot.Close")
	if debug.On {
		s.checkPieces()
	}
	s.close()
}

// checkUnread panics while goroutines loop over the snapshot's rows.
func (s *Snapshot) checkUnread(op string) {
	if n := s.reading.Load(); n > 0 {
		// errors.md, Snapshots: `goroutines are reading the snapshot` | `Snapshot.Close`, `Renew`
		// or `World.Close` while a loop over its rows, `Hash`, `Verify` or `Diff` runs. | Close it
		// when the readers are done; `Systems.Snapshots` of package system counts them.
		panic(fmt.Sprintf("ecs: %s: %d goroutines are reading the snapshot", op, n))
	}
}

func (s *Snapshot) close() {
	w := s.w
	h := w.history
	s.thaw()
	h.drop(s)
	s.layer.Close()
	h.sweep(w)
	h.spare = append(h.spare, s.end())
	if len(h.alive) == 0 {
		w.sleep()
	}
}

// thaw frees what readers saw; a delta of it can be walked no more.
func (s *Snapshot) thaw() {
	if s.frozen != nil {
		s.frozen.free()
		s.frozen.closed = true
		s.frozen = nil
	}
}

// spareMemory is the memory of a closed snapshot. Callers may hold that one, so it is not used
// again itself.
type spareMemory struct {
	archetypes []archetypeState
	sets       []sparse.State
	ids        entity.Moment
	managed    managedCopies
}

// end makes the snapshot closed and returns its memory.
func (s *Snapshot) end() (m spareMemory) {
	for i := range s.archetypes {
		s.archetypes[i].a = nil
	}
	s.managed.clear()
	m.archetypes, m.sets, m.managed = s.archetypes, s.sets, s.managed
	s.ids.MoveTo(&m.ids)
	s.closed, s.names, s.archetypes, s.sets, s.managed, s.types, s.heap = true, name.Names{}, nil, nil, nil, nil, nil
	return m
}

// reuse gives the snapshot the memory of a closed one, if there is any.
func (s *Snapshot) reuse(h *history) {
	if n := len(h.spare) - 1; n >= 0 {
		m := &h.spare[n]
		s.archetypes, s.sets, s.managed = m.archetypes, m.sets, m.managed
		m.ids.MoveTo(&s.ids)
		h.spare = h.spare[:n]
	}
}

func (s *Snapshot) check(op string) {
	if s == nil || s.w == nil {
		panic("ecs: " + op + ": the snapshot is nil or the zero value; snapshots come from World.Snapshot")
	}
}

// checkOpen panics if the snapshot is closed.
func (s *Snapshot) checkOpen(op string) {
	s.check(op)
	if s.closed {
		// errors.md, Snapshots: `the snapshot is closed` | A snapshot was used after its `Close`,
		// or after its world's. | Close it when nobody reads it any more.
		panic("ecs: " + op + ": the snapshot is closed")
	}
}

// Err returns why the snapshot is lost, or nil. It is lost if there was no memory to keep bytes
// that were about to be written. The error wraps what package alloc said. Any goroutine may call
// it.
func (s *Snapshot) Err() error {
	s.check("Snapshot.Err")
	if err := s.layer.Err(); err != nil {
		// errors.md, Errors: `ecs: the snapshot is lost: ...` | There was no memory to keep the old
		// bytes of rows that were written after the snapshot. | Close snapshots sooner, or give the
		// world a larger universe.
		return fmt.Errorf("ecs: the snapshot is lost: %w", err)
	}
	return nil
}

// Version returns the world's version when the snapshot was taken: what changed since is newer.
func (s *Snapshot) Version() uint32 {
	s.check("Snapshot.Version")
	return s.version
}

// Len returns the number of entities that were alive.
func (s *Snapshot) Len() int {
	s.check("Snapshot.Len")
	return int(s.created - s.destroyed)
}

// Kept returns the bytes of old rows and records that the snapshot has for itself and for older
// ones.
func (s *Snapshot) Kept() int {
	s.checkOpen("Snapshot.Kept")
	return s.layer.Units() * past.UnitSize
}

// World returns the snapshot's world.
func (s *Snapshot) World() *World {
	s.check("Snapshot.World")
	return s.w
}
