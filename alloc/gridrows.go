package alloc

import (
	"unsafe"

	"quarry/internal/debug"
)

// GridRow is a row of a chunk of a grid: the element of a column lies at
// Base + Offset*Eighths + Row*Size.
type GridRow struct {
	Base    unsafe.Pointer // the chunk's start
	Eighths uintptr        // of a unit that the chunk has
	Row     int
}

// eighthsOf returns the eighths of a chunk of an order.
func eighthsOf(order uint32) uintptr { return 1 << (order & 63) }

// Element returns the address of the row's element of a column.
func (r GridRow) Element(offset, size uint32) unsafe.Pointer {
	// Safe because the row is one of the chunk's rows, and the column lies in the
	// chunk with room for them all.
	return unsafe.Add(r.Base, uintptr(offset)*r.Eighths+uintptr(r.Row)*uintptr(size))
}

// Row returns a row of the chunk at a position.
func (g *Grid) Row(pos, row int) GridRow {
	c := &g.chunks[pos]
	return GridRow{g.u.PointerTo(c.First), eighthsOf(c.Order), row}
}

// ClearRows zeroes n rows from r on in some columns.
func ClearRows(r GridRow, n int, columns []GridColumn) {
	for i := range columns {
		c := &columns[i]
		p := r.Element(c.Offset, c.Size)
		// Safe because the rows lie inside the column, and a column starts at a multiple
		// of 8, so its elements of 8 and 16 bytes are aligned for words.
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
		p, q := to.Element(c.To, c.Size), from.Element(c.From, c.Size)
		// Safe because both spans of rows lie inside their columns.
		bytes := n * int(c.Size)
		copy(unsafe.Slice((*byte)(p), bytes), unsafe.Slice((*byte)(q), bytes))
	}
}

// MoveRows copies n rows of a grid over others, in its columns. Rows of one chunk may
// overlap.
func MoveRows(to, from GridRow, n int, columns []GridColumn) {
	for i := range columns {
		c := &columns[i]
		p, q := to.Element(c.Offset, c.Size), from.Element(c.Offset, c.Size)
		// Safe because both spans of rows lie inside their columns.
		bytes := n * int(c.Size)
		copy(unsafe.Slice((*byte)(p), bytes), unsafe.Slice((*byte)(q), bytes))
	}
}

// PoisonRows fills n rows that hold nothing any more in some columns, so that a stale
// pointer to them shows. Debug builds call it.
func PoisonRows(r GridRow, n int, columns []GridColumn) {
	for _, c := range columns {
		// Safe because the rows lie inside the column.
		debug.Poison(unsafe.Slice((*byte)(r.Element(c.Offset, c.Size)), n*int(c.Size)), debug.Freed)
	}
}
