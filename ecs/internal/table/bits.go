package table

import (
	"fmt"
	"math/bits"
	"sync/atomic"

	"quarry/bitmask"
)

// Enable bits: each type that can be disabled has one word for 64 rows of a chunk. Toggling moves no row.

// Bits returns the words of a type in a chunk. Goroutines that toggle may be writing them.
func (b *Books) Bits(slot uint16, pos int) []uint64 { return b.enabled[slot][pos] }

// On returns how many rows of a chunk have a type enabled.
func (b *Books) On(slot uint16, pos int) int { return int(atomic.LoadInt32(&b.on[slot][pos])) }

// Bit reports whether a row has a type enabled.
func (b *Books) Bit(slot uint16, pos, row int) bool {
	return atomic.LoadUint64(&b.enabled[slot][pos][row/64])>>(row%64)&1 != 0
}

// SetBit enables or disables a type in a row.
func (b *Books) SetBit(slot uint16, pos, row int, on bool) {
	word, bit := &b.enabled[slot][pos][row/64], uint64(1)<<(row%64)
	if old := *word&bit != 0; old != on {
		*word ^= bit
		if on {
			b.on[slot][pos]++
		} else {
			b.on[slot][pos]--
		}
	}
}

// Switch is SetBit that marks the type changed in the chunk at a version. Which bits are set already is for no branch
// to guess.
func (b *Books) Switch(slot uint16, pos, row int, on bool, version uint32) {
	new := uint64(0)
	if on {
		new = 1
	}
	word, at := &b.enabled[slot][pos][row/64], row%64
	old := *word >> at & 1
	*word ^= (old ^ new) << at
	b.on[slot][pos] += int32(new) - int32(old)
	*b.Version(slot, pos) = version
}

// Toggle is SetBit while other goroutines may read the bit and toggle its neighbours in the word.
func (b *Books) Toggle(slot uint16, pos, row int, on bool) {
	word, bit := &b.enabled[slot][pos][row/64], uint64(1)<<(row%64)
	switch {
	case on && atomic.OrUint64(word, bit)&bit == 0:
		atomic.AddInt32(&b.on[slot][pos], 1)
	case !on && atomic.AndUint64(word, ^bit)&bit != 0:
		atomic.AddInt32(&b.on[slot][pos], -1)
	}
}

// SetBits enables a type in rows [row, row+n) of a chunk, whose bits are clear.
func (b *Books) SetBits(slot uint16, pos, row, n int) {
	bitmask.Bits(b.enabled[slot][pos]).SetRange(row, n)
	b.on[slot][pos] += int32(n)
}

// EnableRows enables all types in rows [row, row+n) of a chunk, whose bits are clear.
func (b *Books) EnableRows(pos, row, n int) {
	for _, slot := range b.toggling {
		b.SetBits(slot, pos, row, n)
	}
}

// ClearBits disables a type in n rows of a chunk.
func (b *Books) ClearBits(slot uint16, pos, row, n int) {
	words := bitmask.Bits(b.enabled[slot][pos])
	b.on[slot][pos] -= int32(words.CountRange(row, n))
	words.ClearRange(row, n)
}

// ClearRows disables all types in n rows of a chunk, which end or get other bits.
func (b *Books) ClearRows(pos, row, n int) {
	for _, slot := range b.toggling {
		b.ClearBits(slot, pos, row, n)
	}
}

// SetMask enables or disables a type in the rows of a chunk whose bits are set in mask, and reports
// whether any bit is set there.
func (b *Books) SetMask(slot uint16, pos int, mask []uint64, on bool) (some bool) {
	words := b.enabled[slot][pos][:len(mask)]
	count, any := 0, uint64(0)
	for i, m := range mask {
		any |= m
		if on {
			words[i] |= m
		} else {
			words[i] &^= m
		}
		count += bits.OnesCount64(words[i])
	}
	if any != 0 {
		b.on[slot][pos] = int32(count)
	}
	return any != 0
}

// Span is rows of a chunk in some books.
type Span struct {
	Books *Books
	Pos   int // the chunk
	Row   int // the first of the rows
	All   int // rows that the chunk has
}

// CopyBits copies the bits of a type from n rows of a span to n rows of a chunk whose bits are clear.
func (b *Books) CopyBits(slot uint16, pos, row int, from Span, fromSlot uint16, n int) {
	switch int(from.Books.on[fromSlot][from.Pos]) {
	case 0:
		return
	case from.All:
		b.SetBits(slot, pos, row, n)
		return
	}
	for i := range n {
		if from.Books.Bit(fromSlot, from.Pos, from.Row+i) {
			b.SetBit(slot, pos, row+i, true)
		}
	}
}

// CopyRows copies the bits of all types from n rows of a span of the same books over n other rows.
func (b *Books) CopyRows(pos, row int, from Span, n int) {
	for _, slot := range b.toggling {
		b.ClearBits(slot, pos, row, n)
		b.CopyBits(slot, pos, row, from, slot, n)
	}
}

// Close moves the bits of the last row to a row that ends. The row may be the last row itself.
func (b *Books) Close(pos, row, lastPos, lastRow int) {
	for _, slot := range b.toggling {
		b.SetBit(slot, pos, row, b.Bit(slot, lastPos, lastRow))
		b.SetBit(slot, lastPos, lastRow, false)
	}
}

// Spares are bits of chunks that went, for chunks to come: list k has those with room for 2^k words,
// 2,048 at most (2^17 rows of 8 bytes fill a megachunk). Without spares a batch would allocate for each
// chunk. The zero value is ready.
type Spares [12][][]uint64

// take returns the bits of a chunk with room for some rows, all clear.
func (s *Spares) take(room int) []uint64 {
	n := (room + 63) / 64
	class := bits.Len(uint(n - 1))
	spare := &s[class]
	last := len(*spare) - 1
	if last < 0 {
		return make([]uint64, n, 1<<class)
	}
	words := (*spare)[last][:n]
	*spare = (*spare)[:last]
	clear(words)
	return words
}

// keep adds the bits of chunks that go, except for nil ones.
func (s *Spares) keep(chunks [][]uint64) {
	for i, words := range chunks {
		if words == nil {
			continue // Give moved them to another table
		}
		spare := &s[bits.Len(uint(cap(words)-1))]
		*spare = append(*spare, words)
		chunks[i] = nil
	}
}

// Verify checks B1 and B2. chunks is the number of the table's chunks; rows returns the number of rows of a chunk.
func (b *Books) Verify(chunks int, rows func(pos int) int) error {
	if n := len(b.stamps); n != chunks || len(b.changed) != n*b.types || n > 0 && b.last != &b.stamps[n-1] || n == 0 && b.last != nil {
		return fmt.Errorf("table: B1: %d chunks have %d stamps and %d versions of %d types, or another stamp is at hand than the last",
			chunks, n, len(b.changed), b.types)
	}
	for _, slot := range b.toggling {
		if len(b.enabled[slot]) != chunks || len(b.on[slot]) != chunks {
			return fmt.Errorf("table: B2: %d chunks have bits for %d of slot %d, counted for %d", chunks, len(b.enabled[slot]), slot, len(b.on[slot]))
		}
		for pos, words := range b.enabled[slot] {
			if on := bitmask.Bits(words).Count(); on != int(b.on[slot][pos]) {
				return fmt.Errorf("table: B2: chunk %d has %d rows with slot %d enabled, counted %d", pos, on, slot, b.on[slot][pos])
			}
			if past := bitmask.Bits(words).CountRange(rows(pos), len(words)*64-rows(pos)); past > 0 {
				return fmt.Errorf("table: B2: chunk %d has %d rows, but %d bits of slot %d are set behind them", pos, rows(pos), past, slot)
			}
		}
	}
	return nil
}
