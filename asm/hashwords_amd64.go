//go:build !purego && !race

package asm

// hashWordsAVX2 returns the sum of the terms of the words of b, whose length is a multiple of 64
// and not 0. key is that of the first. Needs level AVX2.
//
//go:noescape
func hashWordsAVX2(b []byte, key, mask uint64) uint64

// hashWordsAVX512 is the same for level AVX512.
//
//go:noescape
func hashWordsAVX512(b []byte, key, mask uint64) uint64
