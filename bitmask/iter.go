package bitmask

import (
	"iter"
	"math/bits"
)

// Iteration. Each word is read once, when the walk comes to it; the loop body
// may change bits, and sees its own changes from the next word on. Ones and Zeros
// are small enough to inline, so that a range over them is a plain loop; the walk
// over runs calls the loop body once a run.

// Ones yields the set bits, the lowest first.
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

// Zeros yields the clear bits, the lowest first.
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

// UsedRuns yields the runs of set bits, across words, the lowest first, each as
// offset and length: as long as they go, so that no two touch.
func (b Bits) UsedRuns() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) { b.runs(0, yield) }
}

// FreeRuns yields the runs of clear bits, across words, the lowest first, each
// as offset and length: as long as they go, so that no two touch.
func (b Bits) FreeRuns() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) { b.runs(^uint64(0), yield) }
}

// runs yields the runs of ones in the words xor flip.
func (b Bits) runs(flip uint64, yield func(offset, n int) bool) {
	start, n := 0, 0 // the run that reached the top of the words before
	for i, w := range b {
		w ^= flip
		for at := 0; at < WordBits; {
			// Shifts bring zeros in at the top, which end the last run; what is
			// left of the word is as long as the shift says.
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
