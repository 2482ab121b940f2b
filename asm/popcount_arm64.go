//go:build !purego && !race

package asm

// popcountNEON returns the number of set bits, as PopCountRef does, for any
// length.
//
//go:noescape
func popcountNEON(words []uint64) int

// Never reached here, where best is never a level of amd64.

func popcountAVX2(words []uint64) int   { return popcountGo(words) }
func popcountAVX512(words []uint64) int { return popcountGo(words) }
