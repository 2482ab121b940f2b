//go:build !amd64 || purego || race

package asm

// Never called in these builds, where best is never a level of amd64; these functions exist so that
// arith.go is the same in every build.

func columnAVX2F32(op columnOp, dst, x, y []float32, a float32)   { columnGo(op, dst, x, y, a) }
func columnAVX2F64(op columnOp, dst, x, y []float64, a float64)   { columnGo(op, dst, x, y, a) }
func columnAVX512F32(op columnOp, dst, x, y []float32, a float32) { columnGo(op, dst, x, y, a) }
func columnAVX512F64(op columnOp, dst, x, y []float64, a float64) { columnGo(op, dst, x, y, a) }
