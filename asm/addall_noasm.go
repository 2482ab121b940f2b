//go:build !amd64 || purego || race

package asm

// Never called in these builds, where best is never a level of amd64.

func addAllAVX2F32(pairs []Pair[float32])   { addAllGo(pairs) }
func addAllAVX2F64(pairs []Pair[float64])   { addAllGo(pairs) }
func addAllAVX512F32(pairs []Pair[float32]) { addAllGo(pairs) }
func addAllAVX512F64(pairs []Pair[float64]) { addAllGo(pairs) }
