package bitmask

import (
	"math/bits"
	"strconv"

	"quarry/asm"
)

// Searches in many words. A run of zeros either lies inside one word or reaches the lower edge of a
// word, continuing the leading zeros of the words before. So one pass over the words, with the
// zeros carried over each edge, finds the first run that is long enough. The Go runtime's page
// allocator makes the same pass.
//
//	I3 Bits.FindRun returns the lowest offset at which n zeros stand.
//	I4 Bits.LongestRun returns the lowest of the longest runs of zeros.
//	I5 Bits.FindBestRun returns the lowest of the shortest whole runs of zeros
//	   that have n or more.

// manyWords is the number of words from which the kernel that searches for a word with a zero is
// faster than an inlined loop: for 16 words the loop takes 4.0 ns, the kernel 2.8.
const manyWords = 16

// longRun is the run length from which the kernel for 512 bits is faster here. The kernel takes
// 10.2 ns against 9.8 for a run of 24, 10.9 against 13.0 for 32, 7.7 against 13.9 for 64.
const longRun = 32

// FindRun returns the lowest offset of n consecutive zeros, across words, and whether there is one;
// if not, the offset is Len. n may exceed 64. FindRun panics when n is less than 1.
//
// For n up to 16 it takes four steps per word, by shifts that n fixes, and one branch, which tests
// for a run inside the word and for one over its lower edge at once. A word without a set bit
// always has a run, so the zeros carried over an edge are the zeros of one word. Kernels of package
// asm search for one zero among 16 words or more, and for runs of 32 to 64 in exactly 8 words.
func (b Bits) FindRun(n int) (offset int, ok bool) {
	u := uint(n)
	if u-1 >= 16 {
		return b.findLong(n)
	}
	if u == 1 && len(b) >= manyWords {
		i := asm.FirstNotFull(b)
		if i < 0 {
			return b.Len(), false
		}
		return i*WordBits + bits.TrailingZeros64(^b[i]), true
	}
	if u == 1 {
		for i, w := range b {
			if w != ^uint64(0) {
				return i*WordBits + bits.TrailingZeros64(^w), true
			}
		}
		return b.Len(), false
	}
	s2 := min(2, u-2)
	s4 := min(4, u-2-s2)
	s8 := u - 2 - s2 - s4
	carry := 0 // zeros at the top of the previous word
	for i, w := range b {
		z := ^w & (^w >> 1)
		z &= z >> (s2 % WordBits)
		z &= z >> (s4 % WordBits)
		z &= z >> (s8 % WordBits)
		cross := carry + bits.TrailingZeros64(w)
		if z|uint64((n-1-cross)>>(bits.UintSize-1)) != 0 {
			if cross >= n {
				return i*WordBits - carry, true
			}
			return i*WordBits + bits.TrailingZeros64(z), true
		}
		carry = bits.LeadingZeros64(w)
	}
	return b.Len(), false
}

// findLong is FindRun for n above 16.
func (b Bits) findLong(n int) (offset int, ok bool) {
	switch {
	case n < 1:
		badMany("Bits.FindRun", n)
	case len(b) == 8 && n >= longRun && n <= WordBits:
		if offset = asm.FindRun512((*[8]uint64)(b), n); offset < 0 {
			offset = b.Len()
		}
	case n <= WordBits/2:
		offset = b.findMedium(n)
	default:
		offset = b.findLarge(n)
	}
	return offset, offset < b.Len()
}

// findMedium is FindRun for n in 17..32: five steps per word instead of four.
func (b Bits) findMedium(n int) int {
	last := uint(n-16) % WordBits
	carry := 0
	for i, w := range b {
		z := ^w & (^w >> 1)
		z &= z >> 2
		z &= z >> 4
		z &= z >> 8
		z &= z >> last
		cross := carry + bits.TrailingZeros64(w)
		if z|uint64((n-1-cross)>>(bits.UintSize-1)) != 0 {
			if cross >= n {
				return i*WordBits - carry
			}
			return i*WordBits + bits.TrailingZeros64(z)
		}
		carry = bits.LeadingZeros64(w)
	}
	return b.Len()
}

// findLarge is FindRun for n above 32: such a run either covers the middle of a word or crosses an
// edge.
func (b Bits) findLarge(n int) int {
	carry := 0 // zeros at the top of the previous words
	for i, w := range b {
		if carry+bits.TrailingZeros64(w) >= n {
			return i*WordBits - carry
		}
		below := bits.LeadingZeros32(uint32(w))
		above := bits.TrailingZeros32(uint32(w >> 32))
		switch {
		case w == 0:
			carry += WordBits
		case below+above >= n:
			return i*WordBits + WordBits/2 - below
		default:
			carry = bits.LeadingZeros64(w)
		}
	}
	return b.Len()
}

// LongestRun returns the lowest of the longest runs of zeros, across words, and 0, 0 when there is
// no zero. It passes over the words once and looks inside a word only when the word could hold a
// longer run.
func (b Bits) LongestRun() (offset, n int) {
	carry := 0
	for i, w := range b {
		if w == 0 {
			carry += WordBits
			continue
		}
		if run := carry + bits.TrailingZeros64(w); run > n {
			offset, n = i*WordBits-carry, run
		}
		if n < WordBits-bits.OnesCount64(w) {
			if at, run := LongestRun(w); run > n {
				offset, n = i*WordBits+at, run
			}
		}
		carry = bits.LeadingZeros64(w)
	}
	if carry > n {
		offset, n = b.Len()-carry, carry
	}
	return offset, n
}

// FindBestRun returns the lowest offset of the shortest run of zeros, across words, that has at
// least n; when there is none it returns Len and false. A run of exactly n ends the search.
// FindBestRun panics when n is less than 1.
func (b Bits) FindBestRun(n int) (offset int, ok bool) {
	if n < 1 {
		badMany("Bits.FindBestRun", n)
	}
	offset = b.Len()
	shortest := 0
	for at, run := range b.FreeRuns() {
		if run >= n && (!ok || run < shortest) {
			offset, shortest, ok = at, run, true
			if run == n {
				break
			}
		}
	}
	return offset, ok
}

// TryAlloc sets the lowest run of n zeros, across words, and returns its offset. When there is none
// it changes nothing and returns Len and false. TryAlloc panics when n is less than 1.
func (b Bits) TryAlloc(n int) (offset int, ok bool) {
	if n < 1 {
		badMany("Bits.TryAlloc", n)
	}
	if offset, ok = b.FindRun(n); ok {
		b.SetRange(offset, n)
	}
	return offset, ok
}

// TryAllocAt sets the n bits from offset on. When one of them is set it changes nothing and returns
// false. It panics when n is less than 1 or the run exceeds b.
func (b Bits) TryAllocAt(offset, n int) (ok bool) {
	if n < 1 {
		badMany("Bits.TryAllocAt", n)
	}
	b.checkRange("Bits.TryAllocAt", offset, n)
	if ok = b.AllClear(offset, n); ok {
		b.SetRange(offset, n)
	}
	return ok
}

// TryFree clears the n bits from offset on. When one of them is clear, which is a double free, it
// changes nothing and returns false. It panics when n is less than 1 or the run exceeds b.
func (b Bits) TryFree(offset, n int) (ok bool) {
	if n < 1 {
		badMany("Bits.TryFree", n)
	}
	b.checkRange("Bits.TryFree", offset, n)
	if ok = b.AllSet(offset, n); ok {
		b.ClearRange(offset, n)
	}
	return ok
}

//go:noinline
func badMany(name string, n int) {
	panic("bitmask: " + name + ": n=" + strconv.Itoa(n) + " is less than 1")
}
