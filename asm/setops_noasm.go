//go:build !amd64 || purego || race

package asm

// In these builds best is never a level of amd64; these functions exist so that setops.go is the
// same in every build.

func andAVX2(dst, x, y []uint64)      { andGo(dst, x, y) }
func andAVX512(dst, x, y []uint64)    { andGo(dst, x, y) }
func orAVX2(dst, x, y []uint64)       { orGo(dst, x, y) }
func orAVX512(dst, x, y []uint64)     { orGo(dst, x, y) }
func andNotAVX2(dst, x, y []uint64)   { andNotGo(dst, x, y) }
func andNotAVX512(dst, x, y []uint64) { andNotGo(dst, x, y) }
