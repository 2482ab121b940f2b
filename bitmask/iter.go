package bitmask

import (
	"iter"
	"math/bits"
)

// Iteration. Each word is read once, when the walk reaches it. The loop body may change bits, and
// sees its own changes from the next word on. Ones and Zeros are small enough to inline, so a range
// over them compiles to a plain loop; the walk over runs calls the loop body once per run.

// Ones yields the set bits in rising order.
func (b Bits) Ones() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range b {
			for ; w != 0; w &= w - 1 {
				if !yield(i*WordBits + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// Zeros yields the clear bits in rising order.
func (b Bits) Zeros() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range b {
			for w = ^w; w != 0; w &= w - 1 {
				if !yield(i*WordBits + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// UsedRuns yields the maximal runs of set bits, across words, in rising order, each as offset and
// length.
func (b Bits) UsedRuns() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) { b.runs(0, yield) }
}

// FreeRuns yields the maximal runs of clear bits, across words, in rising order, each as offset and
// length.
func (b Bits) FreeRuns() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) { b.runs(^uint64(0), yield) }
}

// runs yields the runs of ones in the words xor flip.
func (b Bits) runs(flip uint64, yield func(offset, n int) bool) {
	start, n := 0, 0 // the run that reached the top of the previous words
	for i, w := range b {
		w ^= flip
		for at := 0; at < WordBits; {
			// Shifts bring in zeros at the top, which end the last run; the shift count gives the
			// length of the rest of the word.
			rest := w >> uint(at)
			ones := min(bits.TrailingZeros64(^rest), WordBits-at)
			if ones > 0 {
				if n == 0 {
					start = i*WordBits + at
				}
				n += ones
				at += ones
				continue
			}
			if n > 0 {
				if !yield(start, n) {
					return
				}
				n = 0
			}
			at += bits.TrailingZeros64(rest)
		}
	}
	if n > 0 {
		yield(start, n)
	}
}
