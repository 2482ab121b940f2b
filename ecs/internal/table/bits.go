package table

import (
	"fmt"
	"math/bits"

	"quarry/ecs/internal/entity"
)

// Enable bits: each type that can be disabled has one word for every 64 rows of a chunk. Toggling
// moves no row.

// Bits returns the enable bits of a type in a chunk.
func (b *Books) Bits(slot uint16, pos int) *entity.EnableBits { return b.enabled[slot][pos] }

// EnableRows enables all types in rows [row, row+n) of a chunk, whose bits must be clear.
func (b *Books) EnableRows(pos, row, n int) {
	for _, slot := range b.toggling {
		b.Bits(slot, pos).SetRange(row, n)
	}
}

// ClearRows disables all types in n rows of a chunk, which are about to end or get new bits.
func (b *Books) ClearRows(pos, row, n int) {
	for _, slot := range b.toggling {
		b.Bits(slot, pos).ClearRange(row, n)
	}
}

// Span is rows of a chunk, with the books of its table.
type Span struct {
	Books *Books
	Pos   int // the chunk
	Row   int // the first of the rows
	All   int // number of rows of the chunk
}

// CopyBits copies the bits of a type from n rows of a span to n rows of a chunk, whose bits must be
// clear.
func (b *Books) CopyBits(slot uint16, pos, row int, from Span, fromSlot uint16, n int) {
	to, bits := b.Bits(slot, pos), from.Books.Bits(fromSlot, from.Pos)
	switch bits.On() {
	case 0:
		return
	case from.All:
		to.SetRange(row, n)
		return
	}
	for i := range n {
		if bits.Has(from.Row + i) {
			to.Set(row+i, true)
		}
	}
}

// CopyRows copies the bits and versions of n rows of a span of the same books to n other rows.
func (b *Books) CopyRows(pos, row int, from Span, n int) {
	for _, slot := range b.toggling {
		b.Bits(slot, pos).ClearRange(row, n)
		b.CopyBits(slot, pos, row, from, slot, n)
	}
	b.carryRows(pos, row, from.Pos, from.Row, n)
}

// Close moves the bits and versions of the last row to a row that ends, which may be the last row
// itself.
func (b *Books) Close(pos, row, lastPos, lastRow int) {
	for _, slot := range b.toggling {
		last := b.Bits(slot, lastPos)
		b.Bits(slot, pos).Set(row, last.Has(lastRow))
		last.Set(lastRow, false)
	}
	b.carryRows(pos, row, lastPos, lastRow, 1)
}

// Spares holds enable bits and versions of rows of former chunks for reuse by new chunks. Without
// spares a batch would allocate for each chunk. The zero value is ready to use.
type Spares struct {
	bits     [12][]*entity.EnableBits // list k has bits with room for 2^k words, at most 2,048: 2^17 rows of 8 bytes fill a megachunk
	versions [18][][]uint32           // list k has versions with room for 2^k rows
}

// take returns clear bits for a chunk with room for room rows, whose row 0 is at first.
func (s *Spares) take(room int, first Location) *entity.EnableBits {
	class := bits.Len(uint(entity.WordsFor(room) - 1))
	spare := &s.bits[class]
	var b *entity.EnableBits
	if last := len(*spare) - 1; last >= 0 {
		b, *spare = (*spare)[last], (*spare)[:last]
	} else {
		b = entity.NewEnableBits(1 << class)
	}
	b.Reset(room, first)
	return b
}

// keep adds the bits of removed chunks, except for nil ones.
func (s *Spares) keep(chunks []*entity.EnableBits) {
	for i, b := range chunks {
		if b == nil {
			continue // Give moved them to another table
		}
		spare := &s.bits[bits.Len(uint(b.Room()-1))]
		*spare = append(*spare, b)
		chunks[i] = nil
	}
}

// Verify checks B1 to B3, and B5. chunks is the number of the table's chunks; rows returns the
// number of rows of a chunk.
func (b *Books) Verify(chunks int, rows func(pos int) int) error {
	if n := len(b.stamps); n != chunks || len(b.changed) != n*b.types || n > 0 && b.last != &b.stamps[n-1] || n == 0 && b.last != nil {
		return fmt.Errorf("table: B1: %d chunks have %d stamps and %d versions of %d types, or another stamp is at hand than the last",
			chunks, n, len(b.changed), b.types)
	}
	for _, slot := range b.toggling {
		if len(b.enabled[slot]) != chunks {
			return fmt.Errorf("table: B2: %d chunks have bits for %d of slot %d", chunks, len(b.enabled[slot]), slot)
		}
		for pos, bits := range b.enabled[slot] {
			if err := bits.Verify(rows(pos), b.at(pos)); err != nil {
				return fmt.Errorf("table: B2: chunk %d, slot %d: %w", pos, slot, err)
			}
		}
	}
	if err := b.verifyRows(chunks, rows); err != nil {
		return err
	}
	return b.verifyValues(chunks)
}
