package store

import (
	"slices"
	"unsafe"
)

// RowCopy describes how rows are copied from one layout to another. When a single row is copied, a
// call per column would dominate the cost, and so would a test of each element's size. So columns
// of 16 bytes, the most common, have their own list, whose loop takes a few instructions per
// column.
type RowCopy struct {
	Pairs  []PairCopy   // columns of 16-byte elements
	Others bool         // there are other columns: small or large
	small  []columnCopy // columns of elements up to 32 bytes
	large  []columnCopy // columns of larger elements: memmove is as fast
}

// PairCopy describes how a 16-byte element is copied: the offsets of both columns in a small chunk.
type PairCopy struct{ From, To uint32 }

// columnCopy describes how an element is copied from one layout to another.
type columnCopy struct {
	From, To uint32 // offsets of the columns in a small chunk
	Size     uint32 // bytes of an element
}

// Add adds a column whose elements have size bytes.
func (c *RowCopy) Add(from, to, size uint32) {
	c.Others = c.Others || size != 16
	switch {
	case size == 16:
		c.Pairs = append(c.Pairs, PairCopy{from, to})
	case size <= 32:
		c.small = append(c.small, columnCopy{from, to, size})
	default:
		c.large = append(c.large, columnCopy{from, to, size})
	}
}

// Emptied returns a RowCopy of no columns that reuses the memory of c.
func (c *RowCopy) Emptied() RowCopy {
	return RowCopy{Pairs: c.Pairs[:0], small: c.small[:0], large: c.large[:0]}
}

// Equal reports whether c and d copy the same columns.
func (c *RowCopy) Equal(d *RowCopy) bool {
	return slices.Equal(c.Pairs, d.Pairs) && slices.Equal(c.small, d.small) && slices.Equal(c.large, d.large)
}

// Rows copies n rows over others. Both may lie in one chunk and overlap.
func (c *RowCopy) Rows(to, from Row, n int) {
	for _, p := range c.Pairs {
		columnCopy{p.From, p.To, 16}.rows(to, from, n)
	}
	for _, list := range [...][]columnCopy{c.small, c.large} {
		for _, e := range list {
			e.rows(to, from, n)
		}
	}
}

// rows copies n elements over others.
func (c columnCopy) rows(to, from Row, n int) {
	p, q := to.Element(c.To, c.Size), from.Element(c.From, c.Size)
	// Safe because both spans of rows lie inside their columns.
	bytes := n * int(c.Size)
	copy(unsafe.Slice((*byte)(p), bytes), unsafe.Slice((*byte)(q), bytes))
}

// Repeat copies one row over n others.
func (c *RowCopy) Repeat(to, from Row, n int) {
	for _, p := range c.Pairs {
		columnCopy{p.From, p.To, 16}.repeat(to, from, n)
	}
	for _, list := range [...][]columnCopy{c.small, c.large} {
		for _, e := range list {
			e.repeat(to, from, n)
		}
	}
}

// repeat copies one element over n others, in pieces that double.
func (c columnCopy) repeat(to, from Row, n int) {
	size := int(c.Size)
	// Safe because the n rows lie inside their column, and the element is one of its column.
	rows := unsafe.Slice((*byte)(to.Element(c.To, c.Size)), n*size)
	one := unsafe.Slice((*byte)(from.Element(c.From, c.Size)), size)
	copy(rows, one)
	for done := size; done < len(rows); done *= 2 {
		copy(rows[done:], rows[:done])
	}
}

// Row copies a row over another.
func (c *RowCopy) Row(to, from Row) {
	CopyPairs(to, from, c.Pairs)
	c.CopyOthers(to, from)
}

// CopyPairs copies the 16-byte elements of row from over those of row to.
func CopyPairs(to, from Row, pairs []PairCopy) {
	p, q := unsafe.Add(to.Base, to.Row*16), unsafe.Add(from.Base, from.Row*16)
	for i := range pairs {
		// Safe because both are elements of their columns, as in Element, and columns start
		// at multiples of 8, so they are aligned for words.
		*(*[2]uint64)(unsafe.Add(p, uintptr(pairs[i].To)*to.Scale)) = *(*[2]uint64)(unsafe.Add(q,
			uintptr(pairs[i].From)*from.Scale))
	}
}

// CopyOthers copies a row's elements of other sizes. Elements up to 32 bytes are copied without a
// call, in words of which the last two may overlap.
func (c *RowCopy) CopyOthers(to, from Row) {
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
	for _, e := range c.large {
		e.rows(to, from, 1)
	}
}
