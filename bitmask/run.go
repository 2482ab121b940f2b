package bitmask

import (
	"fmt"
	"math/bits"
)

// Searches in one word. The method, known from the Go runtime's page allocator
// and from Hacker's Delight section 6-2: in z = ^w a set bit is a free unit.
// After z &= z >> 1 a set bit means "two free units from here"; doubling the
// shift doubles the run that a set bit stands for, and a last partial shift
// reaches n exactly. So n takes ceil(log2 n) steps, 6 at most.
//
// Invariants that the tests prove against the bit-by-bit twins in run_ref.go:
//
//	I1 FindRun returns the lowest offset at which n zeros stand, or ok = false
//	   when there is none.
//	I2 LongestRun returns the lowest of the longest runs of zeros.

// WordBits is the number of units that one word describes.
const WordBits = 64

// Mask returns a word with the n bits [offset, offset+n) set. It panics unless
// n is in 1..64 and the run lies inside the word.
func Mask(offset, n int) uint64 {
	if uint(n-1) >= WordBits || uint(offset) > uint(WordBits-n) {
		badRun("Mask", offset, n)
	}
	return ^uint64(0) >> (WordBits - uint(n)) << uint(offset)
}

// FindRun returns the lowest offset of n consecutive zeros in w, and whether
// there is one. It panics unless n is in 1..64.
func FindRun(w uint64, n int) (offset int, ok bool) {
	if uint(n-1) >= WordBits {
		badCount("FindRun", n)
	}
	z := ^w
	have := uint(1) // a set bit of z stands for a run of this many zeros
	for want := uint(n); have < want; {
		step := min(have, want-have)
		z &= z >> step
		if z == 0 {
			return 0, false
		}
		have += step
	}
	offset = bits.TrailingZeros64(z)
	return offset, offset < WordBits
}

// LongestRun returns the longest run of zeros in w, the lowest one when several
// are as long, and n = 0 when w is full. It takes at most 12 steps.
func LongestRun(w uint64) (offset, n int) {
	z := ^w
	if z == 0 {
		return 0, 0
	}
	// Double the run that a set bit stands for while any survives, then win
	// back the part of the last doubling that overshot.
	have := uint(1)
	for have < WordBits {
		next := z & (z >> have)
		if next == 0 {
			break
		}
		z, have = next, have*2
	}
	for step := have / 2; step > 0; step /= 2 {
		// z marks runs of have zeros; the runs of have+step zeros among them
		// begin where another run of have zeros begins step further on.
		if next := z & (z >> step); next != 0 {
			z, have = next, have+step
		}
	}
	return bits.TrailingZeros64(z), int(have)
}

//go:noinline
func badRun(name string, offset, n int) {
	panic(fmt.Sprintf("bitmask: %s: offset=%d n=%d is not a run of 1..64 bits inside one word", name, offset, n))
}

//go:noinline
func badCount(name string, n int) {
	panic(fmt.Sprintf("bitmask: %s: n=%d is not in 1..64", name, n))
}
