package snapshot

import (
	"fmt"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/past"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// Shared ranges. In debug builds a snapshot notes a hash of each range that it shares with the
// world:
//
//	shared range, in a unit of 16 KiB      is compared
//	rows of a chunk in a column            before the unit is copied for a writer
//	entries of a sparse set, records       the same
//	elements of a spilled buffer           not then: its block is left to the snapshot
//
// All are compared when the next snapshot is taken, before a restore, when the snapshot is closed,
// and by Verify. A range that differs was written past the write barrier: through a slice or
// pointer that was in hand when the snapshot was taken.

// noteShared notes all memory that the snapshot shares with the world.
func (s *Snapshot) noteShared() {
	w, h := s.World, HistoryOf(s.World)
	for _, a := range w.Archetypes.List {
		for pos := range a.Table.Store.Chunks() {
			s.noteChunk(a, pos)
		}
	}
	for _, t := range w.Types.Sparse {
		t.Sparse.Note(s.Layer, t.Name)
	}
	base, size := w.IDs.Memory()
	s.Layer.Note(h.Records, base, size, func(at, n int) string {
		return past.Missed(fmt.Sprintf("bytes %d to %d of the records", at, at+n-1))
	})
	s.Layer.EndNotes()
}

// noteChunk notes the rows of a chunk, and the elements of their buffers.
func (s *Snapshot) noteChunk(a *world.Archetype, pos int) {
	rows, first := a.Table.Store.RowsOf(pos), a.Table.Store.Row(pos, 0)
	note := func(p unsafe.Pointer, size int, name string) {
		s.Layer.Note(HistoryOf(s.World).Rows, p, rows*size, func(at, n int) string {
			return past.Stale(fmt.Sprintf("rows %d to %d of chunk %d of %v: %s", at/size, (at+n-1)/size, pos, a, name))
		})
	}
	// Safe because the chunk has rows.
	note(unsafe.Pointer(table.IDAt(first)), int(unsafe.Sizeof(entity.ID{})), "Entity")
	for _, c := range a.Table.Store.Columns() {
		if c.Size > 0 {
			note(first.Element(c.Offset, c.Size), int(c.Size), s.World.Types.List[c.Key].Name)
		}
	}
	for _, c := range a.Table.Buffers() {
		at := first
		for at.Row = range rows {
			s.noteBlock(a, s.World.Types.List[c.Key], pos, at.Row, value.HeaderOf(at, c))
		}
	}
}

// noteBlock notes the elements of a buffer that has spilled.
func (s *Snapshot) noteBlock(a *world.Archetype, t *world.Type, pos, row int, h *value.Header) {
	if !h.Spilled() {
		return
	}
	size := t.Shape.Element
	s.Layer.NoteFixed(HistoryOf(s.World).Rows, s.World.Buffers.OwnerSpill().Elements(h), h.Len()*size, func(at,
		n int) string {
		return past.Stale(fmt.Sprintf("elements %d to %d of row %d of chunk %d of %v: %s",
			at/size, (at+n-1)/size, row, pos, a, t.Name))
	})
}

// checkShared panics if a range that the snapshot shares was written past the write barrier.
func (s *Snapshot) checkShared() {
	if err := s.Layer.Check(); err != nil {
		panic(err.Error())
	}
}

// checkNewest is checkShared of the snapshot that was taken last. What older ones have alone, as it
// was freed since, is compared when they are closed.
func (h *history) checkNewest() {
	if n := len(h.alive); n > 0 {
		h.alive[n-1].checkShared()
	}
}

// checkAll is checkShared of all snapshots.
func (h *history) checkAll() {
	for _, s := range h.alive {
		s.checkShared()
	}
}
