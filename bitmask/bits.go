package bitmask

import (
	"fmt"
	"math/bits"
)

// Bits is many words seen as one row of bits: bit i is bit i%64 of word i/64,
// and a set bit means "in use". The words are the caller's; runs may cross from
// one to the next. Nothing here is atomic: one goroutine writes, or many read.
//
// Bits holds 64 bits a word, all of them real. For a row whose length is not a
// multiple of 64 the bits past the end are set, as NewBits does it, so that no
// search ever finds them and no range leads there.
type Bits []uint64

// NewBits returns words for n bits: bits 0..n-1 clear, and those past them in
// the last word set. NewBits(0) has no words. It panics when n is negative.
func NewBits(n int) Bits {
	if n < 0 {
		panic(fmt.Sprintf("bitmask: NewBits: n=%d is negative", n))
	}
	b := make(Bits, wordsFor(n))
	b.SetRange(n, len(b)*WordBits-n)
	return b
}

// wordsFor returns how many words hold n bits.
func wordsFor(n int) int { return n/WordBits + (n%WordBits+WordBits-1)/WordBits }

// Len returns the number of bits: 64 a word.
func (b Bits) Len() int { return len(b) * WordBits }

// Has reports whether bit i is set. It panics unless i is in 0..Len-1.
func (b Bits) Has(i int) bool {
	w, m := b.bit("Bits.Has", i)
	return *w&m != 0
}

// SetBit sets bit i, which may be set already, and returns whether it was. It
// panics unless i is in 0..Len-1.
func (b Bits) SetBit(i int) (was bool) {
	w, m := b.bit("Bits.SetBit", i)
	was = *w&m != 0
	*w |= m
	return was
}

// ClearBit clears bit i, which may be clear already, and returns whether it was
// set. It panics unless i is in 0..Len-1.
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

// Count returns how many bits are set.
func (b Bits) Count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// The range methods below take [offset, offset+n) and panic unless it lies in
// [0, Len]. An empty range, n = 0, is in order anywhere in [0, Len]: it changes
// nothing, and everything is true of all its bits.

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

// CountRange returns how many of the n bits from offset on are set.
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

// AllSet reports whether each of the n bits from offset on is set.
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

// AllClear reports whether each of the n bits from offset on is clear.
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

// checkRange panics when a range leaves the bits.
func (b Bits) checkRange(name string, offset, n int) {
	if offset < 0 || n < 0 || offset > b.Len() || n > b.Len()-offset {
		badRange(name, offset, n, b.Len())
	}
}

// spanOf returns the word that bit at lies in, which of its bits belong to [at, end),
// and where the next word's begin. at must be below end. It is no iterator, because
// one that is made by another function is allocated at each call.
func spanOf(at, end int) (word int, mask uint64, next int) {
	from := uint(at) % WordBits
	k := min(WordBits-from, uint(end-at))
	return int(uint(at) / WordBits), ^uint64(0) >> (WordBits - k) << from, at + int(k)
}

//go:noinline
func badRange(name string, offset, n, length int) {
	panic(fmt.Sprintf("bitmask: %s: offset=%d n=%d is not inside %d bits", name, offset, n, length))
}
