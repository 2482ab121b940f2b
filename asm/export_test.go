package asm

import "unsafe"

// Impl is one implementation of a kernel, K its function type.
type Impl[K any] struct {
	Name string
	Func K
}

// impls returns those of all that this build can run on this CPU, whatever
// QUARRY_SIMD says, so that one run tests every one of them.
func impls[K any](public, goTwin, avx2, avx512 K) []Impl[K] {
	list := []Impl[K]{{"public", public}, {"Go", goTwin}}
	if offered() == AVX2 || offered() == AVX512 {
		list = append(list, Impl[K]{"AVX2", avx2})
	}
	if offered() == AVX512 {
		list = append(list, Impl[K]{"AVX512", avx512})
	}
	return list
}

// AxpyFunc is the type of Axpy for one element type.
type AxpyFunc[F Float] = func(dst []F, a F, x []F)

// AxpyImpls32 lists the implementations of Axpy for float32.
func AxpyImpls32() []Impl[AxpyFunc[float32]] {
	return impls(Axpy[float32], axpyGo32, axpyAVX2F32, axpyAVX512F32)
}

// AxpyImpls64 lists the implementations of Axpy for float64.
func AxpyImpls64() []Impl[AxpyFunc[float64]] {
	return impls(Axpy[float64], axpyGo64, axpyAVX2F64, axpyAVX512F64)
}

// FirstNotFullImpls lists the implementations of FirstNotFull.
func FirstNotFullImpls() []Impl[func([]uint64) int] {
	return impls(FirstNotFull, firstNotFullGo, firstNotFullAVX2, firstNotFullAVX512)
}

// Internals of the choice of level and line size.
var (
	Choose   = choose
	LineSize = lineSize
)

// CallBytes is the cap on one assembly call.
const CallBytes = callBytes

// AxpyOverlaps runs the check that debug builds make and returns its panic.
func AxpyOverlaps(dst, x []float32) (panicked any) {
	defer func() { panicked = recover() }()
	checkAxpyOverlap(unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), uintptr(len(dst)), 4)
	return nil
}
