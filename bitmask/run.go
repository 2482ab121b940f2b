package bitmask

import (
	"fmt"
	"math/bits"
)

// Searches in one word. In z = ^w a set bit is a free unit. After z &= z >> 1 a set bit means "two
// free units from here". Doubling the shift doubles the run that a set bit stands for, and a last
// partial shift reaches n exactly (Hacker's Delight section 6-2; the page allocator of the Go
// runtime). So n takes ceil(log2 n) steps, at most 6.
//
// How the steps are driven decides the cost. A loop that leaves when z is 0 mispredicts on mixed
// masks; six shifts from a table by n cost six steps whatever n is. Here n selects straight-line
// code in which all shifts but the last are constants: nothing depends on the mask, so only n must
// be predictable. Measured on mixed masks with runs of mean 8, best of several, ns a call, AMD Zen
// 5, Go 1.26, GOAMD64=v1, machine not idle:
// Zen 5, Go 1.26, GOAMD64=v1, machine not idle:
//
//	n                        1     4     8    16    32    64
//	loop, leaves early     1.5   2.6   3.9   4.8   4.6   4.2
//	six shifts, table      2.4   2.5   2.4   2.7   2.9   2.7
//	straight line by n     0.5   1.6   1.6   1.8   1.8   1.6
//
// Invariants that the tests check against the bit-by-bit twins in run_ref_test.go:
//
//	I1 FindRun returns the lowest offset of n zeros, or WordBits and false when there is none.
//	I2 LongestRun returns the lowest of the longest runs of zeros.

// WordBits is the number of units that one word describes.
const WordBits = 64

// Mask returns a word in which the n bits [offset, offset+n) are set. It panics unless n is in
// 1..64 and the run lies inside the word.
func Mask(offset, n int) uint64 {
	if uint(n-1) >= WordBits || uint(offset) > uint(WordBits-n) {
		badRun("Mask", offset, n)
	}
	return ^uint64(0) >> (WordBits - uint(n)) << uint(offset)
}

// FindRun returns the lowest offset of n consecutive zeros in w and whether there is one; if not,
// the offset is WordBits. It panics unless n is in 1..64.
func FindRun(w uint64, n int) (offset int, ok bool) {
	if n == 1 {
		return bits.TrailingZeros64(^w), w != ^uint64(0)
	}
	offset = findRun(w, n)
	return offset, offset < WordBits
}

// findRun is FindRun without the case n = 1, which callers handle inline. It returns WordBits when
// there is no run.
func findRun(w uint64, n int) int {
	z, u := ^w, uint(n)
	switch {
	case u-1 >= WordBits/2: // includes 0, which wraps
		if u-1 >= WordBits {
			badCount("FindRun", n)
		}
		// A run of more than half of the word covers the two middle bits, so it lies in the one run
		// of zeros around them.
		below := bits.LeadingZeros32(uint32(w))
		above := bits.TrailingZeros32(uint32(w >> 32))
		if below+above < n {
			return WordBits
		}
		return WordBits/2 - below
	case u <= 4:
		z &= z >> (u / 2)
		z &= z >> ((u - u/2 - 1) % WordBits)
	case u <= 8:
		z &= z >> 1
		z &= z >> 2
		z &= z >> ((u - 4) % WordBits)
	case u <= 16:
		z &= z >> 1
		z &= z >> 2
		z &= z >> 4
		z &= z >> ((u - 8) % WordBits)
	default:
		z &= z >> 1
		z &= z >> 2
		z &= z >> 4
		z &= z >> 8
		z &= z >> ((u - 16) % WordBits)
	}
	return bits.TrailingZeros64(z)
}

// aligned holds masks of the offsets that are multiples of 2^i.
var aligned = [...]uint64{
	^uint64(0), 0x5555_5555_5555_5555, 0x1111_1111_1111_1111, 0x0101_0101_0101_0101,
	0x0001_0001_0001_0001, 0x0000_0001_0000_0001, 1,
}

// FindAligned returns the lowest offset, among the multiples of n, of n consecutive zeros in w, and
// whether there is one; if not, the offset is WordBits. It panics unless n is a power of two in
// 1..64.
func FindAligned(w uint64, n int) (offset int, ok bool) {
	if uint(n-1) >= WordBits || n&(n-1) != 0 {
		badAligned("FindAligned", n)
	}
	z := ^w
	for s := 1; s < n; s <<= 1 {
		z &= z >> s
	}
	z &= aligned[bits.TrailingZeros8(uint8(n))]
	return bits.TrailingZeros64(z), z != 0
}

// LongestRun returns the lowest of the longest runs of zeros in w, and 0, 0 when w is full. It
// takes 11 steps without a branch on w.
func LongestRun(w uint64) (offset, n int) {
	if w == 0 {
		return 0, WordBits
	}
	// A set bit of zk stands for a run of k zeros. The length is then found bit by bit from the
	// top: at marks the runs of n zeros, and those followed by a run of k are the runs of n+k.
	z1 := ^w
	z2 := z1 & (z1 >> 1)
	z4 := z2 & (z2 >> 2)
	z8 := z4 & (z4 >> 4)
	z16 := z8 & (z8 >> 8)
	at, n := longer(^uint64(0), z16&(z16>>16), 0, 32)
	at, n = longer(at, z16, n, 16)
	at, n = longer(at, z8, n, 8)
	at, n = longer(at, z4, n, 4)
	at, n = longer(at, z2, n, 2)
	at, n = longer(at, z1, n, 1)
	return bits.TrailingZeros64(at), n
}

// longer extends the runs of n zeros that at marks by k, if any can be extended.
func longer(at, zk uint64, n, k int) (uint64, int) {
	if next := at & (zk >> (uint(n) % WordBits)); next != 0 {
		at, n = next, n+k
	}
	return at, n
}

//go:noinline
func badRun(name string, offset, n int) {
	panic(fmt.Sprintf("bitmask: %s: offset=%d n=%d is not a run of 1..64 bits inside one word", name, offset, n))
}

//go:noinline
func badCount(name string, n int) {
	panic(fmt.Sprintf("bitmask: %s: n=%d is not in 1..64", name, n))
}

//go:noinline
func badAligned(name string, n int) {
	panic(fmt.Sprintf("bitmask: %s: n=%d is not a power of two in 1..64", name, n))
}
