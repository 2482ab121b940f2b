//go:build !purego && !race

package asm

// Each repeats pattern over dst, whose length is any multiple of 4. The first
// needs level AVX2, the second AVX512.

//go:noescape
func fillAVX2(dst []byte, pattern *[16]byte)

//go:noescape
func fillAVX512(dst []byte, pattern *[16]byte)
