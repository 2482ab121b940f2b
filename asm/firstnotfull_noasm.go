//go:build !(amd64 || arm64) || purego || race

package asm

// In these builds best is the constant Go, so the branches that name these
// functions are dropped by the compiler; the names make firstnotfull.go the
// same text in every build.

func firstNotFullAVX2(words []uint64) int   { return firstNotFullGo(words) }
func firstNotFullAVX512(words []uint64) int { return firstNotFullGo(words) }
func firstNotFullNEON(words []uint64) int   { return firstNotFullGo(words) }
