package container

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
	"unsafe"

	"quarry/alloc"
	"quarry/asm"
	"quarry/bitmask"
)

// The bit set.
//
// One block of words, as long as the largest number that was ever added needs; it doubles. The
// number of bits that are set is counted as they change, so Count reads no word.
//
//	number   0 ... 63 | 64 ... 127 | 128 ...
//	word     0        | 1          |
//
// Invariant:
//
//	B1 count is the number of set bits.

const firstWords = 8 // a cache line of most processors

// Bitset is a set of integers from 0 on, a bit each: 128 KiB for a million. And, Or and AndNot
// of two sets are the kernels of package asm. Use NewBitset.
type Bitset struct {
	source
	words bitmask.Bits
	count int
}

// NewBitset returns an empty set, which has no block yet.
func NewBitset(from alloc.Allocator) *Bitset {
	return &Bitset{source: newSource("NewBitset", from)}
}

// Set adds i to the set. It grows the set up to i; an error is the allocator's, and the set is
// unchanged then. It panics when i is negative.
func (b *Bitset) Set(i int) error {
	b.check("Bitset.Set")
	if uint(i) >= uint(len(b.words)*64) {
		if err := b.grow("Set", i, 1); err != nil {
			return err
		}
	}
	w, bit := &b.words[i/64], uint64(1)<<(i%64)
	b.count += int(^*w >> (i % 64) & 1)
	*w |= bit
	return nil
}

// SetRange adds the n numbers from first on. Errors and panics are those of Set; n must not be
// negative either.
func (b *Bitset) SetRange(first, n int) error {
	b.check("Bitset.SetRange")
	if err := b.grow("SetRange", first, n); err != nil {
		return err
	}
	if n > 0 {
		b.count += n - b.words.CountRange(first, n)
		b.words.SetRange(first, n)
	}
	return nil
}

// Clear removes i from the set and reports whether it was there.
func (b *Bitset) Clear(i int) bool {
	b.check("Bitset.Clear")
	if uint(i) >= uint(len(b.words)*64) {
		return false
	}
	was := b.words[i/64] >> (i % 64) & 1
	b.count -= int(was)
	b.words[i/64] &^= 1 << (i % 64)
	return was != 0
}

// ClearRange removes those of the n numbers from first on that are there. It panics when first or n
// is negative.
func (b *Bitset) ClearRange(first, n int) {
	b.check("Bitset.ClearRange")
	if n = b.within("ClearRange", first, n); n > 0 {
		b.count -= b.words.CountRange(first, n)
		b.words.ClearRange(first, n)
	}
}

// Has reports whether i is in the set.
func (b *Bitset) Has(i int) bool {
	b.check("Bitset.Has")
	return b.count > 0 && uint(i) < uint(len(b.words)*64) && b.words[i/64]>>(i%64)&1 != 0
}

// Count returns how many numbers are in the set.
func (b *Bitset) Count() int {
	b.check("Bitset.Count")
	return b.count
}

// CountRange returns how many of the n numbers from first on are in the set. It panics when first
// or n is negative.
func (b *Bitset) CountRange(first, n int) int {
	b.check("Bitset.CountRange")
	if n = b.within("CountRange", first, n); n > 0 && b.count > 0 {
		return b.words.CountRange(first, n)
	}
	return 0
}

// within returns how many of the n numbers from first on have a word.
func (b *Bitset) within(op string, first, n int) int {
	if first < 0 || n < 0 || first > math.MaxInt-max(n-1, 0) {
		b.panicRange(op, first, n)
	}
	return min(n, max(len(b.words)*64-first, 0))
}

//go:noinline
func (b *Bitset) panicRange(op string, first, n int) {
	panic(fmt.Sprintf("container: Bitset.%s: first=%d n=%d: want numbers from 0 on", op, first, n))
}

// grow makes words for the n numbers from first on.
func (b *Bitset) grow(op string, first, n int) error {
	if first < 0 || n < 0 || first > math.MaxInt-max(n-1, 0) {
		b.panicRange(op, first, n)
	}
	need := (first + (n - 1)) / 64
	if n == 0 || need < len(b.words) {
		return nil
	}
	err := b.setWords(alloc.Doubling().Next(len(b.words), max(need+1, firstWords)))
	if err != nil {
		err = b.setWords(need + 1)
	}
	if err != nil {
		return fmt.Errorf("container: Bitset.%s: numbers up to %d: %w", op, first+(n-1), err)
	}
	return nil
}

// setWords gives the set another number of words, more than 0.
func (b *Bitset) setWords(n int) error {
	// Safe because it is the address of the block, or nil.
	p, err := b.reallocZeroed(unsafe.Pointer(unsafe.SliceData(b.words)), len(b.words)*8, 64, n*8)
	if err != nil {
		return err
	}
	// Safe because the block has n words, aligned to 64 bytes.
	b.words = unsafe.Slice((*uint64)(p), n)
	return nil
}

// And keeps the numbers that are in other as well. Both may be the same set.
func (b *Bitset) And(other *Bitset) {
	b.checkBoth("And", other)
	n := min(len(b.words), len(other.words))
	asm.And(b.words[:n], b.words[:n], other.words[:n])
	clear(b.words[n:])
	b.count = asm.PopCount(b.words)
}

// AndNot removes the numbers that are in other.
func (b *Bitset) AndNot(other *Bitset) {
	b.checkBoth("AndNot", other)
	n := min(len(b.words), len(other.words))
	asm.AndNot(b.words[:n], b.words[:n], other.words[:n])
	b.count = asm.PopCount(b.words)
}

// Or adds the numbers of other. An error is the allocator's; the set is unchanged then.
func (b *Bitset) Or(other *Bitset) error {
	b.checkBoth("Or", other)
	n := len(other.words)
	for n > len(b.words) && other.words[n-1] == 0 {
		n--
	}
	if n > len(b.words) {
		if err := b.grow("Or", n*64-1, 1); err != nil {
			return err
		}
	}
	n = min(n, len(b.words))
	asm.Or(b.words[:n], b.words[:n], other.words[:n])
	b.count = asm.PopCount(b.words)
	return nil
}

func (b *Bitset) checkBoth(op string, other *Bitset) {
	b.check("Bitset." + op)
	if other == nil {
		panic("container: Bitset." + op + ": the other set is nil")
	}
	other.check("Bitset." + op)
}

// Next returns the least number of the set that is at least i, or -1 and false when there
// is none.
func (b *Bitset) Next(i int) (next int, ok bool) {
	b.check("Bitset.Next")
	next = b.next(max(i, 0))
	return next, next >= 0
}

// next returns the least number of the set that is at least i, or -1.
func (b *Bitset) next(i int) int {
	w := i / 64
	if w >= len(b.words) || b.count == 0 {
		return -1
	}
	word := b.words[w] &^ (1<<(i%64) - 1)
	for word == 0 {
		if w++; w == len(b.words) {
			return -1
		}
		word = b.words[w]
	}
	return w*64 + bits.TrailingZeros64(word)
}

// Ones yields the numbers in rising order. The set may change meanwhile: whether a number above the
// last one is shown is decided when the loop gets there.
func (b *Bitset) Ones() iter.Seq[int] {
	return func(yield func(int) bool) {
		b.check("Bitset.Ones")
		for i := b.next(0); i >= 0 && yield(i); i = b.next(i + 1) {
			b.check("Bitset.Ones")
		}
	}
}

// Runs yields the longest runs of numbers that follow each other, in rising order, each as its
// first number and its length. The set may change meanwhile, as for Ones.
func (b *Bitset) Runs() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		b.check("Bitset.Runs")
		for i := b.next(0); i >= 0; {
			end := b.nextGap(i)
			if !yield(i, end-i) {
				return
			}
			b.check("Bitset.Runs")
			i = b.next(end)
		}
	}
}

// nextGap returns the least number from i on that is not in the set.
func (b *Bitset) nextGap(i int) int {
	w := i / 64
	word := ^b.words[w] &^ (1<<(i%64) - 1)
	for word == 0 {
		if w++; w == len(b.words) {
			return w * 64
		}
		word = ^b.words[w]
	}
	return w*64 + bits.TrailingZeros64(word)
}

// Words returns the words of the set, valid until the next call that may grow or free them. They
// are to be read: a change would not be counted.
func (b *Bitset) Words() bitmask.Bits {
	b.check("Bitset.Words")
	return b.words
}

// Reset removes all numbers and keeps the block.
func (b *Bitset) Reset() {
	b.check("Bitset.Reset")
	clear(b.words)
	b.count = 0
}

// Trim gives back the words above the largest number. A block that cannot be replaced by a smaller
// one stays.
func (b *Bitset) Trim() {
	b.check("Bitset.Trim")
	n := len(b.words)
	for n > 0 && b.words[n-1] == 0 {
		n--
	}
	if n == 0 {
		b.freeWords()
	} else if n < len(b.words) {
		_ = b.setWords(n) // a refusal leaves the block as it is
	}
}

func (b *Bitset) freeWords() {
	if w := b.words; len(w) > 0 {
		b.words = nil
		// Safe because it is the address of the block.
		b.free(unsafe.Pointer(unsafe.SliceData(w)), len(w)*8, 64)
	}
}

// Close frees the block. The set must not be used afterwards; a second Close does nothing, and so
// does the Close of a set whose allocator has given up the block.
func (b *Bitset) Close() {
	if b.from == nil || b.closed {
		return
	}
	if !b.hold.Lost() {
		b.freeWords()
	}
	b.closed, b.words, b.count = true, nil, 0
}

// Verify checks B1 and returns an error that names a violation.
func (b *Bitset) Verify() error {
	b.check("Bitset.Verify")
	n := 0
	for _, w := range b.words {
		n += bits.OnesCount64(w)
	}
	if n != b.count {
		return fmt.Errorf("container: B1: %d bits are set, the count is %d", n, b.count)
	}
	return nil
}
