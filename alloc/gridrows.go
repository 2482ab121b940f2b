package alloc

import (
	"unsafe"

	"quarry/internal/debug"
)

// GridRow is a row of a chunk of a grid: the element of a column lies at
// Base + Offset<<Order + Row*Size.
type GridRow struct {
	Base  unsafe.Pointer // the chunk's start
	Order uint32         // of the chunk
	Row   int
}

func (r GridRow) element(offset, size uint32) unsafe.Pointer {
	// Safe because the row is one of the chunk's rows, and the column lies in the
	// chunk with room for them all.
	return unsafe.Add(r.Base, uintptr(offset)<<(r.Order&31)+uintptr(r.Row)*uintptr(size))
}

// Row returns a row of the chunk at a position.
func (g *Grid) Row(pos, row int) GridRow {
	c := &g.chunks[pos]
	return GridRow{g.u.Pointer(c.First), c.Order, row}
}

// ClearRows zeroes n rows from r on in some columns.
func ClearRows(r GridRow, n int, columns []GridColumn) {
	for i := range columns {
		c := &columns[i]
		p := r.element(c.Offset, c.Size)
		// Safe because the rows lie inside the column, and a column starts on a cache
		// line, so its elements of 8 and 16 bytes are aligned for words.
		switch {
		case n == 1 && c.Size == 16:
			*(*[2]uint64)(p) = [2]uint64{}
		case n == 1 && c.Size == 8:
			*(*uint64)(p) = 0
		default:
			clear(unsafe.Slice((*byte)(p), n*int(c.Size)))
		}
	}
}

// CopyRows copies n rows from one place over another, in the columns of copies.
// Rows of one chunk may overlap.
func CopyRows(to, from GridRow, n int, copies []ColumnCopy) {
	for i := range copies {
		c := &copies[i]
		p, q := to.element(c.To, c.Size), from.element(c.From, c.Size)
		// Safe because both spans of rows lie inside their columns.
		bytes := n * int(c.Size)
		copy(unsafe.Slice((*byte)(p), bytes), unsafe.Slice((*byte)(q), bytes))
	}
}

// CopyRow is CopyRows of one row.
func CopyRow(to, from GridRow, copies []ColumnCopy) {
	for i := range copies {
		c := &copies[i]
		p, q := to.element(c.To, c.Size), from.element(c.From, c.Size)
		// Safe because both rows lie inside their columns, which start on cache lines, so
		// elements of 4, 8 and 16 bytes are aligned for words.
		switch c.Size {
		case 16:
			*(*[2]uint64)(p) = *(*[2]uint64)(q)
		case 8:
			*(*uint64)(p) = *(*uint64)(q)
		case 4:
			*(*uint32)(p) = *(*uint32)(q)
		default:
			copy(unsafe.Slice((*byte)(p), c.Size), unsafe.Slice((*byte)(q), c.Size))
		}
	}
}

// Self returns the columns as copies from a row to another of this grid.
func (g *Grid) Self() []ColumnCopy { return g.self }

// PoisonRows fills n rows that hold nothing any more, so that a stale pointer to
// them shows. Debug builds call it.
func (g *Grid) PoisonRows(r GridRow, n int) {
	for _, c := range g.columns {
		// Safe because the rows lie inside the column.
		debug.Poison(unsafe.Slice((*byte)(r.element(c.Offset, c.Size)), n*int(c.Size)), debug.Freed)
	}
}
