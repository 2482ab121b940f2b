package entity

import (
	"fmt"
	"math/bits"
	"sync/atomic"

	"quarry/bitmask"
)

// EnableBits records in which rows of a chunk one type is enabled: one bit per row, in words of 64.
// They stay at one address while a table has the chunk, so a ColumnAddress can point to them.
type EnableBits struct {
	first Location // of the chunk's row 0
	on    int32    // bits that are set
	words bitmask.Bits
}

// NewEnableBits returns bits without rows, with room for a number of words.
func NewEnableBits(words int) *EnableBits { return &EnableBits{words: make(bitmask.Bits, 0, words)} }

// WordsFor returns how many words a number of rows needs.
func WordsFor(rows int) int { return (rows + bitmask.WordBits - 1) / bitmask.WordBits }

// Reset clears the bits for a chunk with room for rows rows, whose row 0 is at first.
func (b *EnableBits) Reset(rows int, first Location) {
	b.first, b.on, b.words = first, 0, b.words[:WordsFor(rows)]
	clear(b.words)
}

// SetFirst sets the location of the chunk's row 0.
func (b *EnableBits) SetFirst(l Location) { b.first = l }

// Room returns the number of words that fit.
func (b *EnableBits) Room() int { return cap(b.words) }

// Words returns the words. Other goroutines may be writing them, by Toggle.
func (b *EnableBits) Words() []uint64 { return b.words }

// On returns how many bits are set.
func (b *EnableBits) On() int { return int(atomic.LoadInt32(&b.on)) }

// Has reports whether a row's bit is set.
func (b *EnableBits) Has(row int) bool {
	return atomic.LoadUint64(&b.words[row/64])>>(row%64)&1 != 0
}

// Row returns the row at a location.
func (b *EnableBits) Row(l Location) int { return int(l - b.first) }

// HasAt is Has for the row at a location.
func (b *EnableBits) HasAt(l Location) bool { return b.Has(int(l - b.first)) }

// Set sets or clears a row's bit. It has no branch on the bit's old value, which is unpredictable.
func (b *EnableBits) Set(row int, on bool) {
	now := uint64(0)
	if on {
		now = 1
	}
	word, at := &b.words[uint(row)/64], uint(row)%64
	old := *word >> at & 1
	*word ^= (old ^ now) << at
	b.on += int32(now) - int32(old)
}

// Toggle is Set while other goroutines may read the bit and toggle its neighbours in the word.
func (b *EnableBits) Toggle(row int, on bool) {
	word, bit := &b.words[row/64], uint64(1)<<(row%64)
	switch {
	case on && atomic.OrUint64(word, bit)&bit == 0:
		atomic.AddInt32(&b.on, 1)
	case !on && atomic.AndUint64(word, ^bit)&bit != 0:
		atomic.AddInt32(&b.on, -1)
	}
}

// SetRange sets the bits of n rows, which must be clear.
func (b *EnableBits) SetRange(row, n int) {
	b.words.SetRange(row, n)
	b.on += int32(n)
}

// ClearRange clears the bits of n rows.
func (b *EnableBits) ClearRange(row, n int) {
	b.on -= int32(b.words.CountRange(row, n))
	b.words.ClearRange(row, n)
}

// SetMask sets or clears the bits that are set in mask, and reports whether mask has any.
func (b *EnableBits) SetMask(mask []uint64, on bool) (some bool) {
	words := b.words[:len(mask)]
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
		b.on = int32(count)
	}
	return any != 0
}

// CopyAll copies the bits of a chunk with at most as many rows. All bits of b must be clear.
func (b *EnableBits) CopyAll(from *EnableBits) {
	b.on = from.on
	copy(b.words, from.words)
}

// Verify checks the bits of a chunk with rows rows, whose row 0 is at first.
func (b *EnableBits) Verify(rows int, first Location) error {
	switch on, past := b.words.Count(), b.words.CountRange(rows, len(b.words)*bitmask.WordBits-rows); {
	case on != int(b.on):
		return fmt.Errorf("%d rows are enabled, counted %d", on, b.on)
	case past > 0:
		return fmt.Errorf("there are %d rows, but %d bits are set behind them", rows, past)
	case b.first != first:
		return fmt.Errorf("the bits are of rows from location %d on, the chunk has those from %d on", b.first, first)
	}
	return nil
}

// CopyTo copies the bits to others, which may be nil, and returns those.
func (b *EnableBits) CopyTo(to *EnableBits) *EnableBits {
	if to == nil {
		to = NewEnableBits(len(b.words))
	}
	to.first, to.on, to.words = b.first, b.on, append(to.words[:0], b.words...)
	return to
}

// CopyOver copies the bits of the same rows at another time.
func (b *EnableBits) CopyOver(from *EnableBits) {
	b.on = from.on
	copy(b.words, from.words)
}

// Fill sets the words of clear bits for a chunk with n rows, and reports whether there are as many
// words as for its room, and no bit after the rows.
func (b *EnableBits) Fill(words []uint64, n int) bool {
	if len(words) != len(b.words) {
		return false
	}
	copy(b.words, words)
	b.on = int32(b.words.Count())
	return b.words.CountRange(n, len(words)*bitmask.WordBits-n) == 0
}
