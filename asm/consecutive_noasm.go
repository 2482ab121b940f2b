//go:build !amd64 || purego || race

package asm

// In these builds best is never a level of amd64; the names make consecutive.go
// the same text in every build.

func consecutiveAVX2(dst [][2]uint32, first, version uint32)   { consecutiveGo(dst, first, version) }
func consecutiveAVX512(dst [][2]uint32, first, version uint32) { consecutiveGo(dst, first, version) }
