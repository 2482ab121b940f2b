//go:build !purego && !race

package asm

// findRun512AVX512 does what FindRun512Ref does for n in [1, 64]. It needs vbmi2.
//
//go:noescape
func findRun512AVX512(words *[8]uint64, n int) int
