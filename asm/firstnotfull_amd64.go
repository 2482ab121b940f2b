//go:build !purego && !race

package asm

// Each returns the index of the first word that is not all ones, or -1, as
// FirstNotFullRef does, for any length. The first needs level AVX2, the second
// AVX512.

//go:noescape
func firstNotFullAVX2(words []uint64) int

//go:noescape
func firstNotFullAVX512(words []uint64) int

// Never reached here, where best is never NEON.
func firstNotFullNEON(words []uint64) int { return firstNotFullGo(words) }
