//go:build !(amd64 || arm64) || purego || race

package asm

// In these builds best is the constant Go, so the compiler drops the branches that call these
// functions; they exist so that popcount.go is the same in every build.

func popcountAVX2(words []uint64) int   { return popcountGo(words) }
func popcountAVX512(words []uint64) int { return popcountGo(words) }
func popcountNEON(words []uint64) int   { return popcountGo(words) }
