//go:build !amd64 || purego || race

package asm

// Never called in these builds, where best is never a level of amd64.

func notEqualAVX2(dst []uint64, x, y []byte) bool   { return notEqualGo(dst, x, y) }
func notEqualAVX512(dst []uint64, x, y []byte) bool { return notEqualGo(dst, x, y) }
