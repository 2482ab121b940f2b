package store

import (
	"unsafe"

	"quarry/internal/debug"
)

// Row is a row of a chunk of a store. The element of a column lies at Base + Offset*Scale +
// Row*Size.
type Row struct {
	Base  unsafe.Pointer // start of the chunk
	Scale uintptr        // factor of offsets, see Store.Scale
	Row   int
}

// Element returns the address of the row's element of a column.
func (r Row) Element(offset, size uint32) unsafe.Pointer {
	// Safe because the row is one of the chunk's rows, and the column lies in the chunk with room
	// for them all.
	return unsafe.Add(r.Base, uintptr(offset)*r.Scale+uintptr(r.Row)*uintptr(size))
}

// Row returns the given row of the chunk at pos.
func (g *Store) Row(pos, row int) Row {
	c := &g.chunks[pos]
	return Row{PointerTo(g.u, c.First), g.Scale(c.Order), row}
}

// Base returns the start of the chunk at pos.
func (g *Store) Base(pos int) unsafe.Pointer { return PointerTo(g.u, g.chunks[pos].First) }

// ClearRows zeroes n rows, from r on, in the given columns.
func ClearRows(r Row, n int, columns []Column) {
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

// PoisonRows fills n freed rows, from r on, in the given columns, so that use of a stale pointer is
// visible. Debug builds call it.
func PoisonRows(r Row, n int, columns []Column) {
	for _, c := range columns {
		// Safe because the rows lie inside the column.
		debug.Poison(unsafe.Slice((*byte)(r.Element(c.Offset, c.Size)), n*int(c.Size)), debug.Freed)
	}
}
