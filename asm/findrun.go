package asm

import "fmt"

// findRunMin is the run length from which assembly is faster than the Go twin: a run of 12 took 5.0
// ns in Go and 4.7 with AVX512, a run of 8 took 3.7 and 4.0.
const findRunMin = 12

// FindRun512 returns the lowest offset of n zeros in the 512 bits of words, or -1. Offset i is bit
// i%64 of words[i/64], and a run may cross from one word into the next. In a mask of places in use
// the result is the first fit for n.
//
// Cost: no allocation; a run of 32 took 11.7 ns in Go, 4.9 with AVX512. Assembly needs AVX512 with
// VBMI2 (Intel from Ice Lake, AMD from Zen 4 on) and is used for n >= 12; the Go twin finds shorter
// runs faster. The words are read by plain loads, as in FirstNotFull.
//
// FindRun512 panics if n is not in [1, 64] or words is nil.
func FindRun512(words *[8]uint64, n int) int {
	if uint(n-1) >= 64 || words == nil {
		panicRun(words, n)
	}
	if vbmi2 && n >= findRunMin {
		return findRun512AVX512(words, n)
	}
	return findRun512Go(words, n)
}

//go:noinline
func panicRun(words *[8]uint64, n int) {
	if words == nil {
		panic("asm: FindRun512: words is nil")
	}
	panic(fmt.Sprintf("asm: FindRun512: n=%d is not in [1, 64]", n))
}
