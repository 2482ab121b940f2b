package bitmask

import (
	"fmt"
	"math/bits"
)

// Bits is a sequence of words seen as one row of bits: bit i is bit i%64 of word i/64, and a set
// bit means "in use". The caller owns the words; runs may cross from one word to the next. Nothing
// here is atomic: a Bits has one writer or many readers.
//
// A Bits has exactly 64 bits per word. For a row whose length is not a multiple of 64 the bits past
// the end are set, as NewBits sets them, so that no search finds them and no range may include
// them.
type Bits []uint64

// NewBits returns a Bits of n bits: bits 0..n-1 are clear, and the bits past them in the last word
// are set. NewBits(0) has no words. NewBits panics when n is negative.
func NewBits(n int) Bits {
	if n < 0 {
		panic(fmt.Sprintf("bitmask: NewBits: n=%d is negative", n))
	}
	b := make(Bits, wordsFor(n))
	b.SetRange(n, len(b)*WordBits-n)
	return b
}

// wordsFor returns the number of words that hold n bits.
func wordsFor(n int) int { return n/WordBits + (n%WordBits+WordBits-1)/WordBits }

// Len returns the number of bits, 64 per word.
func (b Bits) Len() int { return len(b) * WordBits }

// Has reports whether bit i is set. It panics unless i is in 0..Len-1.
func (b Bits) Has(i int) bool {
	w, m := b.bit("Bits.Has", i)
	return *w&m != 0
}

// SetBit sets bit i and returns whether it was set before. It panics unless i is in 0..Len-1.
func (b Bits) SetBit(i int) (was bool) {
	w, m := b.bit("Bits.SetBit", i)
	was = *w&m != 0
	*w |= m
	return was
}

// ClearBit clears bit i and returns whether it was set before. It panics unless i is in 0..Len-1.
func (b Bits) ClearBit(i int) (was bool) {
	w, m := b.bit("Bits.ClearBit", i)
	was = *w&m != 0
	*w &^= m
	return was
}

func (b Bits) bit(name string, i int) (w *uint64, m uint64) {
	if uint(i) >= uint(b.Len()) {
		badBit(name, i, b.Len())
	}
	return &b[uint(i)/WordBits], 1 << (uint(i) % WordBits)
}

// Count returns the number of set bits.
func (b Bits) Count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// The range methods below take [offset, offset+n) and panic unless it lies in [0, Len]. An empty
// range, n = 0, is valid anywhere in [0, Len]: nothing changes, and every statement about all its
// bits is true.

// SetRange sets the n bits from offset on.
func (b Bits) SetRange(offset, n int) {
	b.checkRange("Bits.SetRange", offset, n)
	for at, end := offset, offset+n; at < end; {
		i, m, next := spanOf(at, end)
		at = next
		b[i] |= m
	}
}

// ClearRange clears the n bits from offset on.
func (b Bits) ClearRange(offset, n int) {
	b.checkRange("Bits.ClearRange", offset, n)
	for at, end := offset, offset+n; at < end; {
		i, m, next := spanOf(at, end)
		at = next
		b[i] &^= m
	}
}

// CountRange returns the number of set bits among the n bits from offset on.
func (b Bits) CountRange(offset, n int) int {
	b.checkRange("Bits.CountRange", offset, n)
	count := 0
	for at, end := offset, offset+n; at < end; {
		i, m, next := spanOf(at, end)
		at = next
		count += bits.OnesCount64(b[i] & m)
	}
	return count
}

// AllSet reports whether all of the n bits from offset on are set.
func (b Bits) AllSet(offset, n int) bool {
	b.checkRange("Bits.AllSet", offset, n)
	for at, end := offset, offset+n; at < end; {
		i, m, next := spanOf(at, end)
		at = next
		if b[i]&m != m {
			return false
		}
	}
	return true
}

// AllClear reports whether all of the n bits from offset on are clear.
func (b Bits) AllClear(offset, n int) bool {
	b.checkRange("Bits.AllClear", offset, n)
	for at, end := offset, offset+n; at < end; {
		i, m, next := spanOf(at, end)
		at = next
		if b[i]&m != 0 {
			return false
		}
	}
	return true
}

// checkRange panics unless the range lies inside b.
func (b Bits) checkRange(name string, offset, n int) {
	if offset < 0 || n < 0 || offset > b.Len() || n > b.Len()-offset {
		badRange(name, offset, n, b.Len())
	}
}

// spanOf returns the word that contains bit at, the mask of its bits that belong to [at, end), and
// the first bit of the next word. at must be below end. spanOf is not an iterator, because an
// iterator returned by another function is allocated at each call.
func spanOf(at, end int) (word int, mask uint64, next int) {
	from := uint(at) % WordBits
	k := min(WordBits-from, uint(end-at))
	return int(uint(at) / WordBits), ^uint64(0) >> (WordBits - k) << from, at + int(k)
}

//go:noinline
func badRange(name string, offset, n, length int) {
	panic(fmt.Sprintf("bitmask: %s: offset=%d n=%d is not inside %d bits", name, offset, n, length))
}
