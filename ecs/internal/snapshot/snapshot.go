package snapshot

import (
	"fmt"
	"sync"
	"sync/atomic"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/name"
	"quarry/ecs/internal/past"
	"quarry/ecs/internal/sparse"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/world"
	"quarry/internal/debug"
	"quarry/internal/heap"
)

// Snapshot is ecs.Snapshot.
type Snapshot struct {
	World   *world.World
	Layer   *past.Layer
	Version uint32 // the world's, when the snapshot was taken; later changes have later ones
	closed  bool
	era     uint64 // of the world's recordings that the snapshot has ended

	Archetypes []archetypeState // in order of creation
	Sets       []sparse.State   // of the sparse types
	Ids        entity.Moment
	Names      name.Names
	Managed    managedCopies // of the types with CopyWith

	Types []*world.Type // of the world then; read-only
	Heap  *heap.Heap    // of spilled buffers; nil: there were none

	Created, Destroyed uint64

	mu      sync.Mutex     // held while a reader makes what is missing
	view    *SnapshotWorld // what readers see; nil: nobody has read yet
	Reading atomic.Int32   // loops and calls of readers that have not ended
}

// archetypeState is an archetype of a snapshot.
type archetypeState struct {
	Archetype *world.Archetype
	Pinned    bool // then
	Table     table.State
}

// Take is ecs.World.Snapshot.
func Take(w *world.World) *Snapshot {
	const op = "World.Snapshot"
	w.CheckNew(op)
	w.CheckIdle(op)
	h := openHistory(w)
	if debug.On {
		h.checkNewest()
	}
	s := &Snapshot{World: w}
	s.reuse(h)
	s.copyManaged(op)
	if len(h.alive) == 0 {
		startKeeping(w, h)
	}
	s.Layer, s.Version = h.past.Begin(), w.Tables.Version
	s.take()
	return s
}

// copyManaged copies the managed values. If a copy function panics, the snapshot is closed.
func (s *Snapshot) copyManaged(op string) {
	done := false
	defer func() {
		switch h := HistoryOf(s.World); {
		case done:
		case s.Layer == nil || s.closed:
			h.spare = append(h.spare, s.end())
		default:
			s.close()
		}
	}()
	s.Managed.take(s.World, op, nil)
	done = true
}

// take notes the world's state, for which a layer has begun.
func (s *Snapshot) take() {
	w := s.World
	s.note(w)
	s.era = w.Recordings.Snapshot()
	if debug.On {
		s.noteShared()
	}
	HistoryOf(w).alive = append(HistoryOf(w).alive, s)
	w.Advance()
	w.Writer.Epoch++ // views and batches are taken anew
}

// Renew is ecs.Snapshot.Renew.
func (s *Snapshot) Renew() {
	const op = "Snapshot.Renew"
	s.Check(op)
	w := s.World
	w.CheckNew(op)
	w.CheckIdle(op)
	s.checkUnread(op)
	h := HistoryOf(w)
	if debug.On {
		h.checkNewest()
		s.checkShared()
	}
	if s.closed {
		s.reuse(h)
	}
	s.copyManaged(op)
	if len(h.alive) == 0 {
		startKeeping(w, h)
	}
	if !s.closed {
		s.releaseView()
		h.drop(s)
	}
	s.Layer.Restart()
	s.closed, s.Version = false, w.Tables.Version
	h.sweep(w)
	s.take()
}

// note copies the state of the world other than its rows.
func (s *Snapshot) note(w *world.World) {
	for i := range takes {
		if takes[i].do != nil {
			takes[i].do(s, w)
		}
	}
}

// Close is ecs.Snapshot.Close.
func (s *Snapshot) Close() {
	s.Check("Snapshot.Close")
	if s.closed {
		return
	}
	s.World.CheckIdle("Snapshot.Close")
	s.checkUnread("Snapshot.Close")
	if debug.On {
		s.checkShared()
	}
	s.close()
}

// checkUnread panics while goroutines loop over the snapshot's rows.
func (s *Snapshot) checkUnread(op string) {
	if n := s.Reading.Load(); n > 0 {
		panic(fmt.Sprintf("ecs: %s: %d goroutines are reading the snapshot", op, n))
	}
}

func (s *Snapshot) close() {
	w := s.World
	h := HistoryOf(w)
	s.releaseView()
	h.drop(s)
	s.Layer.Close()
	h.sweep(w)
	h.spare = append(h.spare, s.end())
	if len(h.alive) == 0 {
		stopKeeping(w)
	}
}

// releaseView frees the view world; deltas of it can no longer be walked.
func (s *Snapshot) releaseView() {
	if s.view != nil {
		s.view.free()
		s.view.Closed = true
		s.view = nil
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
	for i := range s.Archetypes {
		s.Archetypes[i].Archetype = nil
	}
	s.Managed.clear()
	m.archetypes, m.sets, m.managed = s.Archetypes, s.Sets, s.Managed
	s.Ids.MoveTo(&m.ids)
	s.closed, s.Names, s.Archetypes, s.Sets, s.Managed, s.Types, s.Heap = true, name.Names{}, nil, nil, nil, nil, nil
	return m
}

// reuse gives the snapshot the memory of a closed one, if there is any.
func (s *Snapshot) reuse(h *history) {
	if n := len(h.spare) - 1; n >= 0 {
		m := &h.spare[n]
		s.Archetypes, s.Sets, s.Managed = m.archetypes, m.sets, m.managed
		m.ids.MoveTo(&s.Ids)
		h.spare = h.spare[:n]
	}
}

// Check panics for a snapshot that World.Snapshot did not return.
func (s *Snapshot) Check(op string) {
	if s == nil || s.World == nil {
		panic("ecs: " + op + ": the snapshot is nil or the zero value; snapshots come from World.Snapshot")
	}
}

// CheckOpen panics if the snapshot is closed.
func (s *Snapshot) CheckOpen(op string) {
	s.Check(op)
	if s.closed {
		panic("ecs: " + op + ": the snapshot is closed")
	}
}

// Err is ecs.Snapshot.Err.
func (s *Snapshot) Err() error {
	s.Check("Snapshot.Err")
	if err := s.Layer.Err(); err != nil {
		return fmt.Errorf("ecs: the snapshot is lost: %w", err)
	}
	return nil
}
