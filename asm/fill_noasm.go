//go:build !amd64 || purego || race

package asm

// In these builds best is never a level of amd64; the names make fill.go the
// same text in every build.

func fillAVX2(dst []byte, pattern *[16]byte)   { copy(dst, pattern[:]) }
func fillAVX512(dst []byte, pattern *[16]byte) { copy(dst, pattern[:]) }
