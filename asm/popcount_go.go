package asm

import "math/bits"

// popcountGo is the portable code. It counts four words at a time through an array pointer, so that
// the body has no bounds checks, into two sums, so that one addition need not wait for the previous
// one.
func popcountGo(words []uint64) int {
	a, b := 0, 0
	for len(words) >= 4 {
		w := (*[4]uint64)(words)
		a += bits.OnesCount64(w[0]) + bits.OnesCount64(w[1])
		b += bits.OnesCount64(w[2]) + bits.OnesCount64(w[3])
		words = words[4:]
	}
	for _, w := range words {
		a += bits.OnesCount64(w)
	}
	return a + b
}
