package asm

import "math"

// full is a word without a free bit.
const full = math.MaxUint64

// firstNotFullMin is the length in words from which assembly is faster than
// the Go twin when all words must be read: at 16 words 4.9 ns in Go, 3.6 with
// AVX2, 3.2 with AVX512. When the first word has a free bit Go needs 2.3 ns at
// any length, and assembly 2.9 to 3.6; the call is most of that.
const firstNotFullMin = 16

// FirstNotFull returns the index of the first word that is not all ones, or
// -1 if there is none (words may be empty). In a mask of places in use that is
// the first word with a free place; bits.TrailingZeros64(^word) tells which.
//
// Cost: one call per 256 KiB that is read, no allocation; words behind the
// one that is found are read at most one step of 256 bytes further, and never
// behind the slice. The words are plain loads: where other goroutines change
// them at the same time, the result is a hint that the caller must check with
// an atomic operation, and the race detector reports it.
func FirstNotFull(words []uint64) int {
	const most = callBytes / 8 // words
	if best == Go || len(words) < firstNotFullMin {
		return firstNotFullGo(words)
	}
	for base := 0; base < len(words); base += most {
		part := words[base:min(base+most, len(words))]
		var i int
		switch best {
		case AVX512:
			i = firstNotFullAVX512(part)
		case AVX2:
			i = firstNotFullAVX2(part)
		default:
			i = firstNotFullNEON(part)
		}
		if i >= 0 {
			return base + i
		}
	}
	return -1
}
