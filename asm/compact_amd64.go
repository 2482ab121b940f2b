//go:build !purego && !race

package asm

import "unsafe"

// Each copies the rows of 4, 8 or 16 bytes among the n at src that mask chooses
// to dst and returns how many, as CompactRef does. They need level AVX512.

//go:noescape
func compactAVX512x4(dst, src unsafe.Pointer, mask []uint64, n int) int

//go:noescape
func compactAVX512x8(dst, src unsafe.Pointer, mask []uint64, n int) int

//go:noescape
func compactAVX512x16(dst, src unsafe.Pointer, mask []uint64, n int) int
