package table

import (
	"unsafe"

	"quarry/ecs/internal/past"
	"quarry/internal/debug"
	"quarry/internal/store"
)

// The past of tables. While snapshots of the world are alive, tables keep old bytes: every write of
// rows keeps them first, and freed chunks wait.
//
//	Tail                 rows of a batch that is about to be created
//	fillGap, Cut         rows that are about to be filled, and, in debug builds, those that are removed
//	Promote              rows of the chunk to which others move
//	MoveChunks           columns that are about to be cleared, of chunks that go to another table
//	KeepLeave, KeepTail  the row of one entity that is created, moved or removed
//	KeepRows             rows that a caller opens to write
//	KeepValue            headers of buffers of rows that are about to go to another world
//
// The metadata lies in Go memory and is copied when the snapshot is taken; see State.

// KeepPast makes the tables keep old bytes in m, the memory of the universe, and free chunks
// through chunks. nil ends both.
func (s *Tables) KeepPast(m *past.Memory, chunks *past.DeferredFree[store.Chunk]) {
	s.past, s.deferred = m, chunks
	clear(s.births)
	if s.births == nil && m != nil {
		s.births = map[store.SmallIndex]uint64{}
	}
}

// Past returns the memory that rows are kept in, or nil if no snapshot is alive.
func (s *Tables) Past() *past.Memory { return s.past }

// FreeChunk frees a chunk that waited.
func (s *Tables) FreeChunk(c store.Chunk) { store.FreeChunk(s.u, s.smallChunks, c) }

// keeper is called when a chunk of any table is allocated, freed or overwritten.
type keeper struct{ of *Tables }

// Took records which layer was the newest when a chunk was allocated. Units of a small chunk may
// contain others.
func (k keeper) Took(c store.Chunk) {
	s := k.of
	if s.past == nil {
		return
	}
	s.births[c.First] = s.deferred.LayerNumber()
	if !c.Small() {
		s.past.Born(store.PointerTo(s.u, c.First), c.Bytes())
	}
}

// Keeps reports whether a chunk that its table frees waits for snapshots.
func (k keeper) Keeps(c store.Chunk) bool {
	s := k.of
	if s.past == nil {
		return false
	}
	born := s.births[c.First]
	delete(s.births, c.First)
	return s.deferred.Free(chunkKey(c), born)
}

// Overwrites keeps the bytes of a chunk.
func (k keeper) Overwrites(c store.Chunk) {
	if s := k.of; s.past != nil {
		s.past.BeforeWrite(store.PointerTo(s.u, c.First), c.Bytes())
	}
}

// chunkKey names a chunk that waits.
func chunkKey(c store.Chunk) store.Chunk {
	return store.Chunk{First: c.First, Order: c.Order}
}

// KeepRows keeps n rows of a chunk for snapshots, in all columns, before they are written.
func (t *Table) KeepRows(pos, row, n int) {
	if t.all.past != nil {
		t.keepAt(t.Store.Row(pos, row), n)
	}
}

// KeepColumn is KeepRows for the column of one type, which has a size.
func (t *Table) KeepColumn(id TypeID, pos, row, n int) {
	c := t.Column(id)
	t.keepColumns(t.Store.Row(pos, row), n, []Column{c})
}

// KeepValue keeps a column in one row, before it is written.
func (t *Table) KeepValue(at store.Row, c Column) {
	if t.all.past != nil {
		t.all.past.BeforeWrite(at.Element(c.Offset, c.Size), int(c.Size))
	}
}

func (t *Table) keepAt(at store.Row, n int) {
	// Safe because the rows lie in the chunk.
	t.all.past.BeforeWrite(unsafe.Pointer(IDAt(at)), n*int(unsafe.Sizeof(*IDAt(at))))
	t.keepColumns(at, n, t.Store.Columns())
}

func (t *Table) keepColumns(at store.Row, n int, columns []Column) {
	for _, c := range columns {
		t.all.past.BeforeWrite(at.Element(c.Offset, c.Size), n*int(c.Size))
	}
}

// KeepTail keeps the place after the last row, which the chunk has.
func (t *Table) KeepTail() {
	t.keepAt(t.Store.Tail(), 1)
}

// KeepLeave keeps the bytes that are written when the row at a location leaves the table: the row,
// and the record of the entity of the last row, which takes its place.
func (t *Table) KeepLeave(at store.Row) {
	last := t.Store.LastRow()
	t.keepAt(at, 1)
	t.all.ids.Keep(*IDAt(last))
	if debug.On {
		t.keepAt(last, 1)
	}
}

// IsKept reports whether snapshots of the table's world are alive. If so, no chunk may go to
// another world.
func (t *Table) IsKept() bool { return t.all.past != nil }

// waitingSmall returns the number of small chunks that wait to be freed.
func (s *Tables) waitingSmall() (n int) {
	if s.deferred != nil {
		s.deferred.Each(func(c store.Chunk) {
			if c.Small() {
				n++
			}
		})
	}
	return n
}
