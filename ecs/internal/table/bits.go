package table

import (
	"math/bits"

	"quarry/ecs/internal/entity"
)

// Enable bits: each type that can be disabled has one word for every 64 rows of a chunk. Toggling
// moves no row.

// Bits returns the enable bits of a type in a chunk.
func (b *Metadata) Bits(slot uint16, pos int) *entity.EnableBits { return b.enabled[slot][pos] }

// EnableRows enables all types in rows [row, row+n) of a chunk, whose bits must be clear.
func (b *Metadata) EnableRows(pos, row, n int) {
	for _, slot := range b.toggling {
		b.Bits(slot, pos).SetRange(row, n)
	}
}

// ClearRows disables all types in n rows of a chunk, which are about to end or get new bits.
func (b *Metadata) ClearRows(pos, row, n int) {
	for _, slot := range b.toggling {
		b.Bits(slot, pos).ClearRange(row, n)
	}
}

// MetadataRange is rows of a chunk, with the metadata of its table.
type MetadataRange struct {
	Metadata *Metadata
	Pos      int // the chunk
	Row      int // the first of the rows
	All      int // number of rows of the chunk
}

// CopyBits copies the bits of a type from n rows of a span to n rows of a chunk, whose bits must be
// clear.
func (b *Metadata) CopyBits(slot uint16, pos, row int, from MetadataRange, fromSlot uint16, n int) {
	to, bits := b.Bits(slot, pos), from.Metadata.Bits(fromSlot, from.Pos)
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
			continue // MoveChunks moved them to another table
		}
		spare := &s.bits[bits.Len(uint(b.Room()-1))]
		*spare = append(*spare, b)
		chunks[i] = nil
	}
}
