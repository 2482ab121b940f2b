//go:build !amd64 || purego || race

package asm

// Never called in these builds, where best is never a level of amd64.

func hashWordsAVX2(b []byte, key, mask uint64) uint64   { return hashWordsGo(b, key, mask) }
func hashWordsAVX512(b []byte, key, mask uint64) uint64 { return hashWordsGo(b, key, mask) }
