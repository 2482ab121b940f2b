package asm

import "math/bits"

// findRun512Go is the portable code. A run that crosses into a word begins before any run inside
// it, so the zeros at the end of the previous word are checked first. Inside a word, w>>s & w keeps
// the bits followed by s more, so each step doubles the length found.
func findRun512Go(words *[8]uint64, n int) int {
	before := 0 // zeros at the end of the previous word, less than n
	for i, w := range words {
		if before+bits.TrailingZeros64(w) >= n {
			return 64*i - before
		}
		free, left := ^w, n-1
		for s := 1; left > 0 && free != 0; s *= 2 {
			step := min(s, left)
			free &= free >> uint(step&63)
			left -= step
		}
		if free != 0 {
			return 64*i + bits.TrailingZeros64(free)
		}
		before = bits.LeadingZeros64(w)
	}
	return -1
}
