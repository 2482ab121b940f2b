//go:build !(amd64 || arm64) || purego || race

package asm

// In these builds best is the constant Go, so the compiler drops the branches that call these
// functions; they exist so that axpy.go is the same in every build.

func axpyAVX2F32(dst []float32, a float32, x []float32)   { axpyGo32(dst, a, x) }
func axpyAVX2F64(dst []float64, a float64, x []float64)   { axpyGo64(dst, a, x) }
func axpyAVX512F32(dst []float32, a float32, x []float32) { axpyGo32(dst, a, x) }
func axpyAVX512F64(dst []float64, a float64, x []float64) { axpyGo64(dst, a, x) }
func axpyNEONF32(dst []float32, a float32, x []float32)   { axpyGo32(dst, a, x) }
func axpyNEONF64(dst []float64, a float64, x []float64)   { axpyGo64(dst, a, x) }
