package asm

import (
	"unsafe"

	"quarry/internal/debug"
)

// Compose sets dst[i] to the product of the matrix m and the matrix of x[i], for i in [0,
// len(dst)). It does not read elements of x beyond len(dst).
//
//	m, dst[i]   4x4, column by column; the last row is 0 0 0 1, whatever m says
//	x[i]        position X Y Z, scale, and rotation as a unit quaternion X Y Z W:
//	            scaled, then rotated, then moved
//
// Each product is rounded, then each sum, from left to right. None are fused, so a result has the
// same bits at every level, on every CPU and in every build. The one exception is NaN: that an
// element is NaN is the same everywhere, but its sign and payload are not.
//
// Cost: one call per 256 KiB, no allocation; see the table in the package comment. Level AVX512
// runs the code for AVX2. Assembly serves every length: for a single element, too, it is faster.
// Nothing outside dst is written. dst shares no memory with m and x; debug builds panic if it does.
//
// Compose panics if len(x) < len(dst), or if m is nil and dst is not empty.
func Compose(dst [][16]float32, m *[16]float32, x [][8]float32) {
	if len(x) < len(dst) {
		panicShort("Compose", "x", len(x), len(dst))
	}
	if len(dst) == 0 {
		return
	}
	if m == nil {
		panicNoMatrix()
	}
	if debug.On {
		checkCompose(dst, m, x)
	}
	if best != AVX512 && best != AVX2 {
		composeGo(dst, m, x)
		return
	}
	const most = callBytes / (64 + 32) // elements
	for len(dst) > most {
		composeAVX2(dst[:most], m, x)
		dst, x = dst[most:], x[most:]
	}
	composeAVX2(dst, m, x)
}

//go:noinline
func panicNoMatrix() { panic("asm: Compose: m is nil") }

// checkCompose panics if dst, which is not empty, shares memory with m or x.
func checkCompose(dst [][16]float32, m *[16]float32, x [][8]float32) {
	// Safe because only the addresses are compared; nothing is read.
	d, n := uintptr(unsafe.Pointer(&dst[0])), uintptr(len(dst))
	checkApart("m", d, 64*n, uintptr(unsafe.Pointer(m)), 64)
	checkApart("x", d, 64*n, uintptr(unsafe.Pointer(&x[0])), 32*n)
}

// checkApart panics if size bytes at address dst share memory with n bytes of a slice at address
// at.
func checkApart(slice string, dst, size, at, n uintptr) {
	if dst < at+n && at < dst+size {
		panicOverlap("Compose", slice, int(size), int(at-dst))
	}
}
