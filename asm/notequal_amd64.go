//go:build !purego && !race

package asm

// notEqualAVX2 is NotEqual for x and y of one length, a multiple of 64 and not 0. Needs level AVX2.
//
//go:noescape
func notEqualAVX2(dst []uint64, x, y []byte) bool

// notEqualAVX512 is the same for level AVX512.
//
//go:noescape
func notEqualAVX512(dst []uint64, x, y []byte) bool
