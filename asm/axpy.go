package asm

import (
	"fmt"
	"unsafe"

	"quarry/internal/debug"
)

// Float is the constraint on the elements of the arithmetic kernels.
type Float interface{ ~float32 | ~float64 }

// callBytes is the number of bytes that one assembly call may touch. Assembly cannot be preempted,
// so a longer call would delay every goroutine that waits for a stop of the world; 256 KiB take a
// few microseconds from cache.
const callBytes = 256 << 10

// axpyMin is the length in elements from which assembly is faster than the Go twin. At 8 elements a
// direct call of Axpy took 5.0 to 5.3 ns in Go, 4.0 to 4.4 with AVX2 and 4.0 to 5.1 with AVX512, at
// 4 elements 4.0, 4.4 and 5.4: an assembly call with its arguments on the stack costs more than
// short slices gain.
const axpyMin = 8

// Axpy computes dst[i] += a*x[i] for i in [0, len(dst)). It does not read elements of x beyond
// len(dst).
//
// The product is rounded, then the sum: the two are never fused, so a result has the same bits at
// every level, on every CPU and in every build. The one exception is NaN: that a result is NaN is
// the same everywhere, but its sign and payload are not.
//
// Cost: one call per 256 KiB, no allocation; see the table in the package comment. dst and x may be
// the same memory (then dst[i] += a*dst[i]); any other overlap gives results that depend on the
// level, and panics in debug builds. Nothing outside dst[:len(dst)] is written. Goroutines may work
// on disjoint parts of one array, down to the element.
//
// Axpy panics if len(x) < len(dst).
func Axpy[F Float](dst []F, a F, x []F) {
	// The size is a constant in each instance of the function, so one branch remains: the type
	// parameter costs one direct call.
	if unsafe.Sizeof(a) == 4 {
		// Safe because a Float of 4 bytes has float32 as its underlying type.
		axpy32(*(*[]float32)(unsafe.Pointer(&dst)), float32(a), *(*[]float32)(unsafe.Pointer(&x)))
	} else {
		// Safe because a Float that does not have 4 bytes has float64 as its underlying type.
		axpy64(*(*[]float64)(unsafe.Pointer(&dst)), float64(a), *(*[]float64)(unsafe.Pointer(&x)))
	}
}

// axpy32 checks the arguments and selects the code.
func axpy32(dst []float32, a float32, x []float32) {
	if len(x) < len(dst) {
		panicAxpyLength(len(dst), len(x))
	}
	if debug.On && len(dst) > 0 {
		// Safe because only the addresses are compared; nothing is read.
		checkAxpyOverlap(unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), uintptr(len(dst)), 4)
	}
	if best == Go || len(dst) < axpyMin {
		axpyGo32(dst, a, x)
		return
	}
	const most = callBytes / 2 / 4 // elements: half of the bytes are dst, half x
	for len(dst) > most {
		axpy32(dst[:most], a, x) // one assembly call each
		dst, x = dst[most:], x[most:]
	}
	switch best {
	case AVX512:
		axpyAVX512F32(dst, a, x)
	case AVX2:
		axpyAVX2F32(dst, a, x)
	default:
		axpyNEONF32(dst, a, x)
	}
}

// axpy64 checks the arguments and selects the code.
func axpy64(dst []float64, a float64, x []float64) {
	if len(x) < len(dst) {
		panicAxpyLength(len(dst), len(x))
	}
	if debug.On && len(dst) > 0 {
		// Safe because only the addresses are compared; nothing is read.
		checkAxpyOverlap(unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), uintptr(len(dst)), 8)
	}
	if best == Go || len(dst) < axpyMin {
		axpyGo64(dst, a, x)
		return
	}
	const most = callBytes / 2 / 8 // elements: half of the bytes are dst, half x
	for len(dst) > most {
		axpy64(dst[:most], a, x) // one assembly call each
		dst, x = dst[most:], x[most:]
	}
	switch best {
	case AVX512:
		axpyAVX512F64(dst, a, x)
	case AVX2:
		axpyAVX2F64(dst, a, x)
	default:
		axpyNEONF64(dst, a, x)
	}
}

//go:noinline
func panicAxpyLength(dst, x int) {
	panic(fmt.Sprintf("asm: Axpy: len(x)=%d is less than len(dst)=%d", x, dst))
}

// checkAxpyOverlap panics if the n elements of size bytes at dst and at x
// share memory without starting together.
func checkAxpyOverlap(dst, x unsafe.Pointer, n, size uintptr) {
	// Safe because the addresses are only compared.
	d, s := uintptr(dst), uintptr(x)
	if d != s && d < s+n*size && s < d+n*size {
		panic(fmt.Sprintf("asm: Axpy: dst and x overlap: %d elements, x begins %d bytes behind dst",
			n, int(s-d)))
	}
}
