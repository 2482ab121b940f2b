//go:build !amd64 || purego || race

package asm

// Never called in these builds, where best is never a level of amd64.

func composeAVX2(dst [][16]float32, m *[16]float32, x [][8]float32) { composeGo(dst, m, x) }
