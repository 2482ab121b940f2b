//go:build !amd64 || purego || race

package asm

// Never called in these builds, where best is never a level of amd64; these functions exist so that
// reduce.go is the same in every build.

func lanesAVX2F32(op laneOp, acc *[lanes]float32, x, y []float32)   { lanesGo(op, acc, x, y) }
func lanesAVX2F64(op laneOp, acc *[lanes]float64, x, y []float64)   { lanesGo(op, acc, x, y) }
func lanesAVX512F32(op laneOp, acc *[lanes]float32, x, y []float32) { lanesGo(op, acc, x, y) }
func lanesAVX512F64(op laneOp, acc *[lanes]float64, x, y []float64) { lanesGo(op, acc, x, y) }
