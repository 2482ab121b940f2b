//go:build !purego && !race

package asm

// Each sets dst as ConsecutiveRef does, for any length. The first needs level
// AVX2, the second AVX512.

//go:noescape
func consecutiveAVX2(dst [][2]uint32, first, version uint32)

//go:noescape
func consecutiveAVX512(dst [][2]uint32, first, version uint32)
