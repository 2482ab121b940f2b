package world

import (
	"fmt"
	"slices"

	"quarry/alloc"
	"quarry/ecs/internal/past"
	"quarry/ecs/internal/table"
	"quarry/internal/debug"
)

// The history of a world: its snapshots, and the old bytes that they have.
//
// While no snapshot is alive, nothing here is in anyone's way. From the first to the last, whoever
// writes has the old bytes kept first (docs/decisions/0036):
//
//	writes                                  kept by
//	Slice, views, At of rows, bodies        all places are gated, so Rows.Missing and fill come to Archetype.Open
//	Set, Mut, MutList of entities           the Sights hide writes, so mutElse comes to finder.touchAt
//	ReadOnly of a column declared to write  ReadOnly itself: Mark comes after the write
//	buffers                                 the same; a block that a snapshot has is left to it (value.Spill.Unshare)
//	rows that come, go or move              change.Rows and package table; records by the store of ids
//	sparse sets                             package sparse
//	enable bits, chunk values, versions     copied when the snapshot is taken
//	names                                   package name, which copies what lies on the way to a name
//
// Invariant, checked by verify, beside P1 to P3 of package past:
//
//	Y1 The world keeps old bytes if and only if a snapshot is alive; then all places are gated, and
//	   no look-up writes by the short path.
//	Y2 In debug builds, what a snapshot shares with the world has the hash that was noted, see
//	   notePieces.

// history is what a world keeps for its snapshots.
type history struct {
	past      past.Past
	rows      *past.Memory                // the memory of the universe
	records   *past.Memory                // the records of the ids
	chunks    past.Kept[alloc.StoreChunk] // chunks that were freed
	blocks    past.Kept[uint32]           // blocks of buffers that were freed, by number
	alive     []*Snapshot                 // by rising number
	spare     []spareMemory               // of closed ones
	restoring restoring                   // of Restore
}

// Keeps reports whether a snapshot is alive.
func (w *World) Keeps() bool { return w.Tables.Past() != nil }

// openHistory returns the world's history, which it makes when the first snapshot is taken.
func (w *World) openHistory() *history {
	if w.history != nil {
		return w.history
	}
	h := new(history)
	h.past.Open(w.Universe)
	h.chunks.Open(&h.past, w.Tables.FreeChunk)
	h.blocks.Open(&h.past, w.Buffers.FreeBlock)
	h.rows = h.past.Add(w.Universe.Base(), w.Universe.Size())
	h.records = h.past.Add(w.IDs.Memory())
	w.history = h
	return h
}

// wake makes the world keep old bytes, before the first layer begins.
func (w *World) wake(h *history) {
	h.records.Resize(w.IDs.Memory)
	w.Tables.KeepPast(h.rows, &h.chunks)
	w.IDs.KeepPast(h.records)
	w.Buffers.KeepPast(&h.blocks)
	for _, t := range w.Types.sparse {
		t.Sparse.KeepPast(&h.past)
	}
	w.regate()
}

// sleep ends what wake began, after the last layer has ended.
func (w *World) sleep() {
	w.Tables.KeepPast(nil, nil)
	w.IDs.KeepPast(nil)
	w.Buffers.KeepPast(nil)
	for _, t := range w.Types.sparse {
		t.Sparse.KeepPast(nil)
	}
	w.regate()
}

// regate makes all ways to write long ones, which have old bytes kept, or short ones again.
func (w *World) regate() {
	for _, a := range w.Archetypes.List {
		a.Table.Regate()
	}
	w.News.replan()
	for _, t := range w.Types.List {
		if t.writers == 0 {
			t.showWrites()
		}
	}
}

// Gates reports whether a write of the type needs to know the rows: they have versions, or old
// bytes are kept.
func (t *Type) Gates() bool { return t.Tracked || t.World.Keeps() }

// Open has n rows of a chunk kept for snapshots and marks the type changed there: by a goroutine of
// the borrow b, or by the owner if b is nil. The caller may write the rows then.
func (a *Archetype) Open(b *Borrow, t *Type, pos, row, n int) {
	a.Keep(b, t, pos, row, n)
	a.Touch(b, a.Table.Places[t.ID].Slot(), pos, row, n)
}

// Keep has the column of a type kept for snapshots in n rows of a chunk.
func (a *Archetype) Keep(b *Borrow, t *Type, pos, row, n int) {
	if a.World.Keeps() && t.Size > 0 {
		a.keepColumn(b, t, pos, row, n)
	}
}

//go:noinline
func (a *Archetype) keepColumn(b *Borrow, t *Type, pos, row, n int) {
	a.Table.KeepColumn(t.ID, pos, row, n)
	if t.Kind == KindBuffer {
		f := b.FinderOf(t)
		a.Table.HeadersIn(t.ID, pos, row, n, func(h *header) { f.Spill.Unshare(h, &t.Shape) })
	}
}

// closeSnapshots closes all snapshots, as the world does before it is closed. It panics, and closes
// none, while goroutines read one.
func (w *World) closeSnapshots(op string) {
	if w.history == nil {
		return
	}
	for _, s := range w.history.alive {
		s.checkUnread(op)
	}
	for len(w.history.alive) > 0 {
		w.history.alive[len(w.history.alive)-1].close()
	}
}

// verifyHistory checks Y1 and Y2, and P1 to P3 of package past.
func (w *World) verifyHistory() error {
	h := w.history
	if h == nil {
		return nil
	}
	if err := h.verify(w); err != nil {
		return err
	}
	if debug.On {
		for _, s := range h.alive {
			if err := s.Layer.Check(); err != nil {
				return err
			}
		}
	}
	return h.past.Verify()
}

// has reports whether a snapshot has an archetype.
func (h *history) has(a *Archetype) bool {
	return h != nil && len(h.alive) > 0 && h.alive[len(h.alive)-1].Layer.Number() > a.born
}

// sweep frees what no snapshot has any more, after one has ended.
func (h *history) sweep(w *World) {
	h.chunks.Sweep()
	h.blocks.Sweep()
	w.IDs.Sweep()
}

// drop takes a snapshot out of the list.
func (h *history) drop(s *Snapshot) {
	at := slices.Index(h.alive, s)
	h.alive = slices.Delete(h.alive, at, at+1)
}

// quiet keeps readers of snapshots from making anything, which takes memory of the universe, until
// resume.
func (h *history) quiet() (resume func()) {
	if h == nil {
		return func() {}
	}
	for _, s := range h.alive {
		s.mu.Lock()
	}
	return func() {
		for _, s := range h.alive {
			s.mu.Unlock()
		}
	}
}

// verify checks Y1.
func (h *history) verify(w *World) error {
	keeps := len(h.alive) > 0
	if keeps != w.Keeps() || h.past.Layers() != len(h.alive) || !keeps && h.chunks.Len()+h.blocks.Len() > 0 {
		return fmt.Errorf("ecs: Y1: %d snapshots are alive, %d layers; the world keeps old bytes: %v; %d chunks and %d blocks wait",
			len(h.alive), h.past.Layers(), w.Keeps(), h.chunks.Len(), h.blocks.Len())
	}
	for _, a := range w.Archetypes.List {
		for _, id := range a.Table.Types {
			if gated := a.Table.Places[id].Flags() == table.Gated; gated != w.Types.List[id].Gates() {
				return fmt.Errorf("ecs: Y1: the place of %s in %v is gated: %v; a snapshot is alive: %v", w.Types.List[id].Name, a, gated, keeps)
			}
		}
	}
	return nil
}
