package asm

import (
	"fmt"
	"unsafe"
)

// panicShort reports a slice that is too short for dst.
//
//go:noinline
func panicShort(kernel, slice string, have, want int) {
	panic(fmt.Sprintf("asm: %s: len(%s)=%d is less than len(dst)=%d", kernel, slice, have, want))
}

// checkOverlap panics if the n bytes at dst and at x share memory without
// starting together. Debug builds only: it costs, and what it finds is a result
// that depends on the level, not damage.
func checkOverlap(kernel, slice string, dst, x unsafe.Pointer, n uintptr) {
	// Safe because the addresses are only compared.
	d, s := uintptr(dst), uintptr(x)
	if d != s && d < s+n && s < d+n {
		panic(fmt.Sprintf("asm: %s: dst and %s overlap: %d bytes, %s begins %d bytes behind dst",
			kernel, slice, n, slice, int(s-d)))
	}
}
