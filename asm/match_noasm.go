//go:build !amd64 || purego || race

package asm

// In these builds best is never a level of amd64; the names make match.go the
// same text in every build.

func matchAVX2(dst, table, has, lacks []uint64, width int)   { matchGo(dst, table, has, lacks, width) }
func matchAVX512(dst, table, has, lacks []uint64, width int) { matchGo(dst, table, has, lacks, width) }
