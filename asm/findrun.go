package asm

import "fmt"

// findRunMin is the length of run from which assembly is faster than the Go
// twin: 5.0 ns in Go and 4.7 with AVX512 for 12, 3.7 and 4.0 for 8.
const findRunMin = 12

// FindRun512 returns the lowest offset at which n zeros stand in the 512 bits of
// words, or -1: offset i is bit i%64 of words[i/64], and a run may cross from a
// word into the next. In a mask of places in use that is the first fit for n.
//
// Cost: no allocation; a run of 32 took 11.7 ns in Go, 4.9 with AVX512. Assembly needs
// AVX512 with VBMI2 (Intel from Ice Lake, AMD from Zen 4 on) and serves n >= 12;
// shorter runs are found faster by the Go twin. The words are plain loads, as
// with FirstNotFull.
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
