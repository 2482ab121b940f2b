//go:build !amd64 || purego || race

package asm

import "unsafe"

// Never reached in these builds, where best is never a level of amd64; these functions exist so
// that compact.go is the same in every build.

func compactAVX512x4(dst, src unsafe.Pointer, mask []uint64, n int) int  { return 0 }
func compactAVX512x8(dst, src unsafe.Pointer, mask []uint64, n int) int  { return 0 }
func compactAVX512x16(dst, src unsafe.Pointer, mask []uint64, n int) int { return 0 }
