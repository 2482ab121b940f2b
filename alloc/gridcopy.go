package alloc

import (
	"slices"
	"unsafe"
)

// One row over another. A call for each column would be most of the cost, and so would a
// look at each element's size: columns of 16 bytes, the commonest, have a list of their
// own, whose loop is a few instructions a column.

// RowCopy says how a row goes from one layout to another.
type RowCopy struct {
	Pairs  []PairCopy   // columns whose elements have 16 bytes
	Others bool         // there are others: small or large ones
	small  []ColumnCopy // to 32 bytes
	large  []ColumnCopy // larger: memmove is as fast
}

// PairCopy says how an element of 16 bytes goes: offsets of the columns in a small chunk.
type PairCopy struct{ From, To uint32 }

// ColumnCopy says how an element goes from one layout to another.
type ColumnCopy struct {
	From, To uint32 // offsets of the columns in a small chunk
	Size     uint32 // bytes of an element
}

// Add adds a column of elements of so many bytes.
func (c *RowCopy) Add(from, to, size uint32) {
	c.Others = c.Others || size != 16
	switch {
	case size == 16:
		c.Pairs = append(c.Pairs, PairCopy{from, to})
	case size <= 32:
		c.small = append(c.small, ColumnCopy{from, to, size})
	default:
		c.large = append(c.large, ColumnCopy{from, to, size})
	}
}

// Emptied returns the copy of no columns, with room for as many as there were.
func (c *RowCopy) Emptied() RowCopy {
	return RowCopy{Pairs: c.Pairs[:0], small: c.small[:0], large: c.large[:0]}
}

// Equal reports whether two copy the same.
func (c *RowCopy) Equal(d *RowCopy) bool {
	return slices.Equal(c.Pairs, d.Pairs) && slices.Equal(c.small, d.small) && slices.Equal(c.large, d.large)
}

// copy copies a row over another.
func (c *RowCopy) copy(to, from GridRow) {
	CopyPairs(to, from, c.Pairs)
	c.CopyOthers(to, from)
}

// CopyPairs copies a row's elements of 16 bytes over those of another.
func CopyPairs(to, from GridRow, pairs []PairCopy) {
	p, q := unsafe.Add(to.Base, to.Row*16), unsafe.Add(from.Base, from.Row*16)
	for i := range pairs {
		// Safe because both are elements of their columns, as in Element, and columns start
		// at multiples of 8, so they are aligned for words.
		*(*[2]uint64)(unsafe.Add(p, uintptr(pairs[i].To)*to.Eighths)) = *(*[2]uint64)(unsafe.Add(q, uintptr(pairs[i].From)*from.Eighths))
	}
}

// CopyOthers copies a row's other elements over those of another. Small ones are copied
// without a call, in words of which the last two may overlap.
func (c *RowCopy) CopyOthers(to, from GridRow) {
	for i := range c.small {
		e := &c.small[i]
		size := uintptr(e.Size)
		// Safe because both are elements of their columns, and each word lies inside them; it
		// may begin anywhere, for it holds no pointer.
		p, q := to.Element(e.To, e.Size), from.Element(e.From, e.Size)
		switch {
		case size > 16:
			for at := uintptr(0); at < size-16; at += 16 {
				*(*[2]uint64)(unsafe.Add(p, at)) = *(*[2]uint64)(unsafe.Add(q, at))
			}
			*(*[2]uint64)(unsafe.Add(p, size-16)) = *(*[2]uint64)(unsafe.Add(q, size-16))
		case size >= 8:
			*(*uint64)(p) = *(*uint64)(q)
			*(*uint64)(unsafe.Add(p, size-8)) = *(*uint64)(unsafe.Add(q, size-8))
		case size >= 4:
			*(*uint32)(p) = *(*uint32)(q)
			*(*uint32)(unsafe.Add(p, size-4)) = *(*uint32)(unsafe.Add(q, size-4))
		default: // 1 to 3
			*(*uint8)(p) = *(*uint8)(q)
			*(*uint8)(unsafe.Add(p, size/2)) = *(*uint8)(unsafe.Add(q, size/2))
			*(*uint8)(unsafe.Add(p, size-1)) = *(*uint8)(unsafe.Add(q, size-1))
		}
	}
	if len(c.large) > 0 {
		CopyRows(to, from, 1, c.large)
	}
}
