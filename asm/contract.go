package asm

import (
	"fmt"
	"unsafe"
)

// panicShort panics about a slice that is too short for dst.
//
//go:noinline
func panicShort(kernel, slice string, have, want int) {
	panic(fmt.Sprintf("asm: %s: len(%s)=%d is less than len(dst)=%d", kernel, slice, have, want))
}

// checkOverlap panics if the n bytes at dst and at x share memory without starting together. Only
// debug builds call it, since it costs time and an overlap causes results that depend on the level,
// not damage.
func checkOverlap(kernel, slice string, dst, x unsafe.Pointer, n uintptr) {
	// Safe because the addresses are only compared.
	d, s := uintptr(dst), uintptr(x)
	if d != s && d < s+n && s < d+n {
		panicOverlap(kernel, slice, int(n), int(s-d))
	}
}

//go:noinline
func panicOverlap(kernel, slice string, size, behind int) {
	panic(fmt.Sprintf("asm: %s: dst and %s overlap: %d bytes, %s begins %d bytes behind dst",
		kernel, slice, size, slice, behind))
}
