//go:build !amd64 || purego || race

package asm

// Never called in these builds, where vbmi2 is false; the name makes findrun.go
// the same text in every build.
func findRun512AVX512(words *[8]uint64, n int) int { return findRun512Go(words, n) }
