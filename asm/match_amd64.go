//go:build !purego && !race

package asm

// Each sets the bits of dst as MatchRef does. matchAVX2 takes a width that is a
// multiple of 4 and needs level AVX2; matchAVX512 one of 1 to 16 and needs
// level AVX512. They check nothing; any number of signatures.

//go:noescape
func matchAVX2(dst, table, has, lacks []uint64, width int)

//go:noescape
func matchAVX512(dst, table, has, lacks []uint64, width int)
