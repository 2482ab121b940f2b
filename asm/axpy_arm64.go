//go:build !purego && !race

package asm

// Each adds a*x[i] to dst[i] for i in [0, len(dst)), as AxpyRef does, and
// touches nothing else. len(x) >= len(dst), both of any length.

//go:noescape
func axpyNEONF32(dst []float32, a float32, x []float32)

//go:noescape
func axpyNEONF64(dst []float64, a float64, x []float64)

// Never reached here, where best is never a level of amd64.

func axpyAVX2F32(dst []float32, a float32, x []float32)   { axpyGo32(dst, a, x) }
func axpyAVX2F64(dst []float64, a float64, x []float64)   { axpyGo64(dst, a, x) }
func axpyAVX512F32(dst []float32, a float32, x []float32) { axpyGo32(dst, a, x) }
func axpyAVX512F64(dst []float64, a float64, x []float64) { axpyGo64(dst, a, x) }
