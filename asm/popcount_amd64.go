//go:build !purego && !race

package asm

// popcountAVX2 returns the number of set bits, as PopCountRef does, for any
// length. Needs level AVX2.
//
//go:noescape
func popcountAVX2(words []uint64) int

// popcountAVX512 is the same for vpopcnt.
//
//go:noescape
func popcountAVX512(words []uint64) int

// Never reached here, where best is never NEON.
func popcountNEON(words []uint64) int { return popcountGo(words) }
