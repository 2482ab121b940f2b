package snapshot

import (
	"fmt"
	"slices"

	"quarry/ecs/internal/past"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/world"
	"quarry/internal/debug"
	"quarry/internal/store"
)

// The history of a world: its snapshots, and the old bytes that they have.
//
// Without snapshots writes cost nothing extra. While one is alive, every write keeps the old bytes
// first (docs/decisions/0036):
//
//	writes                                  kept by
//	Slice, views, At of rows, bodies of     all columns (table.Place) have barriers, so Rows.Missing and fill in
//	jobs                                    ecs/view.go come to Archetype.Open
//	Set, Mut, MutList of entities           the LookupTables disable writes, so mutElse comes to Lookup.touchAt
//	ReadOnly of a column declared to write  ReadOnly itself: Mark comes after the write
//	buffers                                 the same; a block that a snapshot has is left to it (value.Spill.Unshare)
//	rows created, moved or removed          change.Writer and package table; records by the store of ids
//	sparse sets                             package sparse
//	enable bits, chunk values, versions     copied when the snapshot is taken
//	names                                   package name, which copies the nodes on the path to a name
//
// Invariants, checked by Verify beside P1 to P3 of package past; verify checks Y1:
//
//	Y1 The world keeps old bytes if and only if a snapshot is alive; then all columns have write
//	   barriers, and no look-up writes by the short path.
//	Y2 In debug builds, what a snapshot shares with the world has the hash that was noted, see
//	   noteShared.

// history is the part of a world that serves its snapshots.
type history struct {
	w         *world.World
	past      past.Past
	Rows      *past.Memory                   // the memory of the universe
	Records   *past.Memory                   // the records of the ids
	chunks    past.DeferredFree[store.Chunk] // chunks that were freed
	blocks    past.DeferredFree[uint32]      // blocks of buffers that were freed, by number
	alive     []*Snapshot                    // by rising number
	spare     []spareMemory                  // of closed ones
	restoring restoring                      // of Restore
}

// openHistory returns the world's history, and creates it for the first snapshot.
func openHistory(w *world.World) *history {
	if h := HistoryOf(w); h != nil {
		return h
	}
	h := &history{w: w}
	h.past.Open(w.Universe)
	h.chunks.Open(&h.past, w.Tables.FreeChunk)
	h.blocks.Open(&h.past, w.Buffers.FreeBlock)
	h.Rows = h.past.Add(w.Universe.Base(), w.Universe.Size())
	h.Records = h.past.Add(w.IDs.Memory())
	w.History = h
	return h
}

// startKeeping makes the world keep old bytes, before the first layer begins.
func startKeeping(w *world.World, h *history) {
	h.Records.Resize(w.IDs.Memory)
	w.Tables.KeepPast(h.Rows, &h.chunks)
	w.IDs.KeepPast(h.Records)
	w.Buffers.KeepPast(&h.blocks)
	for _, t := range w.Types.Sparse {
		t.Sparse.KeepPast(&h.past)
	}
	updateFlags(w)
}

// stopKeeping undoes startKeeping after the last layer has ended.
func stopKeeping(w *world.World) {
	w.Tables.KeepPast(nil, nil)
	w.IDs.KeepPast(nil)
	w.Buffers.KeepPast(nil)
	for _, t := range w.Types.Sparse {
		t.Sparse.KeepPast(nil)
	}
	updateFlags(w)
}

// updateFlags switches all writes to the slow path, which keeps old bytes, or back.
func updateFlags(w *world.World) {
	for _, a := range w.Archetypes.List {
		a.Table.UpdateFlags()
	}
	w.QueryEpochs.NextReplanned()
	for _, t := range w.Types.List {
		if t.Writers == 0 {
			t.UpdateWrites()
		}
	}
}

// HistoryOf returns the world's history, or nil before the first snapshot.
func HistoryOf(w *world.World) *history {
	h, _ := w.History.(*history)
	return h
}

// Past is world.History.Past.
func (h *history) Past() *past.Past { return &h.past }

// Close is world.History.Close.
func (h *history) Close(op string) {
	for _, s := range h.alive {
		s.checkUnread(op)
	}
	for len(h.alive) > 0 {
		h.alive[len(h.alive)-1].close()
	}
}

// Verify checks Y1 and Y2, and P1 to P3 of package past.
func (h *history) Verify() error {
	if err := h.verify(); err != nil {
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

// Has is world.History.Has.
func (h *history) Has(a *world.Archetype) bool {
	return len(h.alive) > 0 && h.alive[len(h.alive)-1].Layer.Number() > a.Born
}

// sweep frees memory that no snapshot holds any more, after one has ended.
func (h *history) sweep(w *world.World) {
	h.chunks.Sweep()
	h.blocks.Sweep()
	w.IDs.Sweep()
}

// drop takes a snapshot out of the list.
func (h *history) drop(s *Snapshot) {
	at := slices.Index(h.alive, s)
	h.alive = slices.Delete(h.alive, at, at+1)
}

// Quiet is world.History.Quiet.
func (h *history) Quiet() (resume func()) {
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
func (h *history) verify() error {
	w := h.w
	keeps := len(h.alive) > 0
	if keeps != w.Keeps() || h.past.Layers() != len(h.alive) || !keeps && h.chunks.Len()+h.blocks.Len() > 0 {
		return fmt.Errorf(
			"ecs: Y1: %d snapshots are alive, %d layers; the world keeps old bytes: %v; %d chunks and %d blocks wait",
			len(h.alive), h.past.Layers(), w.Keeps(), h.chunks.Len(), h.blocks.Len())
	}
	for _, a := range w.Archetypes.List {
		for _, id := range a.Table.Types {
			if barrier := a.Table.Places[id].Flags() == table.Barrier; barrier != w.Types.List[id].NeedsBarrier() {
				return fmt.Errorf("ecs: Y1: the place of %s in %v has a write barrier: %v; a snapshot is alive: %v",
					w.Types.List[id].Name, a, barrier, keeps)
			}
		}
	}
	return nil
}
