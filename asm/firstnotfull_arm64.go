//go:build !purego && !race

package asm

// firstNotFullNEON returns the index of the first word that is not all ones,
// or -1, as FirstNotFullRef does, for any length.
//
//go:noescape
func firstNotFullNEON(words []uint64) int

// Never reached here, where best is never a level of amd64.

func firstNotFullAVX2(words []uint64) int   { return firstNotFullGo(words) }
func firstNotFullAVX512(words []uint64) int { return firstNotFullGo(words) }
