//go:build !purego && !race

package asm

// composeAVX2 does what ComposeRef does and touches nothing else. len(x) >= len(dst) >= 1, m is not
// nil. It needs level AVX2.
//
//go:noescape
func composeAVX2(dst [][16]float32, m *[16]float32, x [][8]float32)
