//go:build !(amd64 || arm64) || purego || race

package asm

// In these builds best is the constant Go, so the branches that name these
// functions are dropped by the compiler; the names make popcount.go the same
// text in every build.

func popcountAVX2(words []uint64) int   { return popcountGo(words) }
func popcountAVX512(words []uint64) int { return popcountGo(words) }
func popcountNEON(words []uint64) int   { return popcountGo(words) }
