package asm

import "math"

// full is a word without a free bit.
const full = math.MaxUint64

// firstNotFullMin is the length in words from which assembly is faster than the Go twin when all
// words must be read: 16 words took 4.9 ns in Go, 3.6 with AVX2, 3.2 with AVX512. When the first
// word has a free bit Go needs 2.3 ns at any length, and assembly 2.9 to 3.6, most of it for the
// call.
const firstNotFullMin = 16

// FirstNotFull returns the index of the first word that is not all ones, or -1 if there is none, as
// in an empty slice. In a mask of places in use that is the first word with a free place;
// bits.TrailingZeros64(^word) is the place.
//
// Cost: one call per 256 KiB read, no allocation. It reads at most one step of 256 bytes beyond the
// word found, and never beyond the slice. The words are read by plain loads: if other goroutines
// change them at the same time, the result is a hint that the caller must check with an atomic
// operation, and the race detector reports it.
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
