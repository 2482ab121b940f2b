package asm

import (
	"math"
	"unsafe"
)

// The variables that choose a level and a length of cache lines.
const (
	EnvLevel = envLevel
	EnvLine  = envLine
)

// Impl is one implementation of a kernel, K its function type.
type Impl[K any] struct {
	Name string
	Func K
}

// at is an implementation and what it needs.
type at[K any] struct {
	level Level
	extra bool // what it needs beyond the level is there
	impl  Impl[K]
}

func avx2[K any](f K) at[K]   { return at[K]{AVX2, true, Impl[K]{"AVX2", f}} }
func avx512[K any](f K) at[K] { return at[K]{AVX512, true, Impl[K]{"AVX512", f}} }
func neon[K any](f K) at[K]   { return at[K]{NEON, true, Impl[K]{"NEON", f}} }

// impls returns those that this build can run on this CPU, whatever QUARRY_SIMD is, so that one run
// tests every one of them.
func impls[K any](public, goTwin K, levels ...at[K]) []Impl[K] {
	list := []Impl[K]{{"public", public}, {"Go", goTwin}}
	for _, l := range levels {
		if offered().includes(l.level) && l.extra {
			list = append(list, l.impl)
		}
	}
	return list
}

// AxpyFunc is the type of Axpy for one element type.
type AxpyFunc[F Float] = func(dst []F, a F, x []F)

// AxpyImpls32 lists the implementations of Axpy for float32.
func AxpyImpls32() []Impl[AxpyFunc[float32]] {
	return impls[AxpyFunc[float32]](Axpy[float32], axpyGo32, avx2(axpyAVX2F32), avx512(axpyAVX512F32),
		neon(axpyNEONF32))
}

// AxpyImpls64 lists the implementations of Axpy for float64.
func AxpyImpls64() []Impl[AxpyFunc[float64]] {
	return impls(Axpy[float64], axpyGo64, avx2(axpyAVX2F64), avx512(axpyAVX512F64), neon(axpyNEONF64))
}

// FirstNotFullImpls lists the implementations of FirstNotFull.
func FirstNotFullImpls() []Impl[func([]uint64) int] {
	return impls(FirstNotFull, firstNotFullGo, avx2(firstNotFullAVX2), avx512(firstNotFullAVX512),
		neon(firstNotFullNEON))
}

// Internals of the choice of level and line size.
var (
	Choose   = choose
	LineSize = lineSize
	LineOf   = lineOf
)

// CallBytes is the cap on one assembly call.
const CallBytes = callBytes

// AxpyOverlaps runs the check that debug builds make and returns its panic.
func AxpyOverlaps(dst, x []float32) (panicked any) {
	defer func() { panicked = recover() }()
	checkAxpyOverlap(unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), uintptr(len(dst)), 4)
	return nil
}

// PopCountImpls lists the implementations of PopCount.
func PopCountImpls() []Impl[func([]uint64) int] {
	wide := at[func([]uint64) int]{AVX512, offersVPOPCNT(), Impl[func([]uint64) int]{"AVX512", popcountAVX512}}
	return impls(PopCount, popcountGo, avx2(popcountAVX2), wide, neon(popcountNEON))
}

// SetFunc is the type of And, Or and AndNot.
type SetFunc = func(dst, x, y []uint64)

// AndImpls lists the implementations of And.
func AndImpls() []Impl[SetFunc] { return impls(And, andGo, avx2(andAVX2), avx512(andAVX512)) }

// OrImpls lists the implementations of Or.
func OrImpls() []Impl[SetFunc] { return impls(Or, orGo, avx2(orAVX2), avx512(orAVX512)) }

// AndNotImpls lists the implementations of AndNot.
func AndNotImpls() []Impl[SetFunc] {
	return impls(AndNot, andNotGo, avx2(andNotAVX2), avx512(andNotAVX512))
}

// MatchFunc is the type of Match.
type MatchFunc = func(dst, table, has, lacks []uint64, width int) int

// MatchImpls lists the implementations of Match that take width.
func MatchImpls(width int) []Impl[MatchFunc] {
	counted := func(kernel func(dst, table, has, lacks []uint64, width int)) MatchFunc {
		return func(dst, table, has, lacks []uint64, width int) int {
			kernel(dst, table, has, lacks, width)
			return popcountGo(dst[:(len(table)/width+63)/64])
		}
	}
	return impls(Match, matchGo,
		at[MatchFunc]{AVX2, width%4 == 0, Impl[MatchFunc]{"AVX2", counted(matchAVX2)}},
		at[MatchFunc]{AVX512, width <= 16, Impl[MatchFunc]{"AVX512", counted(matchAVX512)}})
}

// FillFunc is the type of Fill for one element type.
type FillFunc[T any] = func(dst []T, v T)

// FillImpls lists the implementations of Fill for a T of 4, 8 or 16 bytes.
func FillImpls[T any]() []Impl[FillFunc[T]] {
	kernel := func(f func([]byte, *[16]byte)) FillFunc[T] {
		return func(dst []T, v T) {
			size := unsafe.Sizeof(v)
			pattern := make([]T, 16/size)
			FillRef(pattern, v)
			f(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(dst))), uintptr(len(dst))*size),
				(*[16]byte)(unsafe.Pointer(&pattern[0])))
		}
	}
	return impls[FillFunc[T]](Fill[T], fillGo[T], avx2(kernel(fillAVX2)), avx512(kernel(fillAVX512)))
}

// ConsecutiveImpls lists the implementations of Consecutive.
func ConsecutiveImpls() []Impl[func([][2]uint32, uint32, uint32)] {
	return impls(Consecutive, consecutiveGo, avx2(consecutiveAVX2), avx512(consecutiveAVX512))
}

// CompactFunc is the type of Compact for one element type.
type CompactFunc[T any] = func(dst, src []T, mask []uint64) int

// CompactImpls lists the implementations of Compact for a T of 4, 8 or 16 bytes.
func CompactImpls[T any]() []Impl[CompactFunc[T]] {
	var v T
	kernel := map[uintptr]func(dst, src unsafe.Pointer, mask []uint64, n int) int{
		4: compactAVX512x4, 8: compactAVX512x8, 16: compactAVX512x16,
	}[unsafe.Sizeof(v)]
	return impls[CompactFunc[T]](Compact[T], compactGo[T], avx512(func(dst, src []T, mask []uint64) int {
		return kernel(unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src)), mask, len(src))
	}))
}

// ColumnFunc is what the kernels of arith.go have in common: those without x, y
// or a leave them unused.
type ColumnFunc[F Float] = func(dst, x, y []F, a F)

// ColumnOp is one kernel of arith.go with its twins.
type ColumnOp[F Float] struct {
	Name  string
	Ref   ColumnFunc[F]
	Impls []Impl[ColumnFunc[F]]
}

// ColumnOps32 lists the kernels of arith.go for float32.
func ColumnOps32() []ColumnOp[float32] { return columnOps(columnAVX2F32, columnAVX512F32) }

// ColumnOps64 lists the kernels of arith.go for float64.
func ColumnOps64() []ColumnOp[float64] { return columnOps(columnAVX2F64, columnAVX512F64) }

func columnOps[F Float](on2, on512 func(columnOp, []F, []F, []F, F)) []ColumnOp[F] {
	build := func(name string, op columnOp, ref, public ColumnFunc[F]) ColumnOp[F] {
		call := func(f func(columnOp, []F, []F, []F, F)) ColumnFunc[F] {
			return func(dst, x, y []F, a F) { f(op, dst, x, y, a) }
		}
		return ColumnOp[F]{name, ref,
			impls(public, call(columnGo[F]), avx2(call(on2)), avx512(call(on512)))}
	}
	return []ColumnOp[F]{
		build("Add", opAdd, func(dst, x, _ []F, _ F) { AddRef(dst, x) }, func(dst, x, _ []F, _ F) { Add(dst, x) }),
		build("Scale", opScale, func(dst, _, _ []F, a F) { ScaleRef(dst, a) },
			func(dst, _, _ []F, a F) { Scale(dst, a) }),
		build("MulAdd", opMulAdd, func(dst, x, y []F, _ F) { MulAddRef(dst, x, y) },
			func(dst, x, y []F, _ F) { MulAdd(dst, x, y) }),
		build("Minimum", opMinimum, func(dst, x, _ []F, _ F) { MinimumRef(dst, x) },
			func(dst, x, _ []F, _ F) { Minimum(dst, x) }),
		build("Maximum", opMaximum, func(dst, x, _ []F, _ F) { MaximumRef(dst, x) },
			func(dst, x, _ []F, _ F) { Maximum(dst, x) }),
	}
}

// ReduceFunc is what the kernels of reduce.go have in common; only Dot uses y.
type ReduceFunc[F Float] = func(x, y []F) F

// Reduction is one kernel of reduce.go with its twins.
type Reduction[F Float] struct {
	Name  string
	Ref   ReduceFunc[F]
	Impls []Impl[ReduceFunc[F]]
}

// Reductions32 lists the kernels of reduce.go for float32.
func Reductions32() []Reduction[float32] { return reductions(lanesAVX2F32, lanesAVX512F32) }

// Reductions64 lists the kernels of reduce.go for float64.
func Reductions64() []Reduction[float64] { return reductions(lanesAVX2F64, lanesAVX512F64) }

func reductions[F Float](on2, on512 func(laneOp, *[lanes]F, []F, []F)) []Reduction[F] {
	build := func(name string, op laneOp, ref, public ReduceFunc[F]) Reduction[F] {
		call := func(f func(laneOp, *[lanes]F, []F, []F)) ReduceFunc[F] {
			return func(x, y []F) F {
				var acc [lanes]F
				if op == opSum || op == opDot {
					f(op, &acc, x, y)
					return foldSum(&acc, len(x))
				}
				for i := range acc {
					acc[i] = F(math.Inf(1))
				}
				f(op, &acc, x, y)
				low := MinRef(acc[:])
				if op == opMax {
					return -low
				}
				return low
			}
		}
		return Reduction[F]{name, ref, impls(public, call(lanesGo[F]), avx2(call(on2)), avx512(call(on512)))}
	}
	return []Reduction[F]{
		build("Sum", opSum, func(x, _ []F) F { return SumRef(x) }, func(x, _ []F) F { return Sum(x) }),
		build("Dot", opDot, DotRef[F], Dot[F]),
		build("Min", opMin, func(x, _ []F) F { return MinRef(x) }, func(x, _ []F) F { return Min(x) }),
		build("Max", opMax, func(x, _ []F) F { return MaxRef(x) }, func(x, _ []F) F { return Max(x) }),
	}
}

// FindRunImpls lists the implementations of FindRun512.
func FindRunImpls() []Impl[func(*[8]uint64, int) int] {
	return impls(FindRun512, findRun512Go,
		at[func(*[8]uint64, int) int]{
			AVX512, offersVBMI2(), Impl[func(*[8]uint64, int) int]{"AVX512", findRun512AVX512},
		})
}

// AddAllFunc is the type of AddAll for one element type.
type AddAllFunc[F Float] = func(pairs ...Pair[F])

// addAllImpl is an implementation that takes the pairs as a list.
func addAllImpl[F Float](f func([]Pair[F])) AddAllFunc[F] {
	return func(pairs ...Pair[F]) { f(pairs) }
}

// AddAllImpls32 lists the implementations of AddAll for float32.
func AddAllImpls32() []Impl[AddAllFunc[float32]] {
	return impls(AddAll[float32], addAllImpl(addAllGo[float32]),
		avx2(addAllImpl(addAllAVX2F32)), avx512(addAllImpl(addAllAVX512F32)))
}

// AddAllImpls64 lists the implementations of AddAll for float64.
func AddAllImpls64() []Impl[AddAllFunc[float64]] {
	return impls(AddAll[float64], addAllImpl(addAllGo[float64]),
		avx2(addAllImpl(addAllAVX2F64)), avx512(addAllImpl(addAllAVX512F64)))
}

// ComposeFunc is the type of Compose.
type ComposeFunc = func(dst [][16]float32, m *[16]float32, x [][8]float32)

// ComposeImpls lists the implementations of Compose.
func ComposeImpls() []Impl[ComposeFunc] {
	return impls(Compose, composeGo, avx2(func(dst [][16]float32, m *[16]float32, x [][8]float32) {
		if len(dst) > 0 {
			composeAVX2(dst, m, x)
		}
	}))
}

// HashFunc is the type of HashWords.
type HashFunc = func(b []byte, place int, mask uint64) uint64

// HashWordsImpls lists the implementations of HashWords. Those of assembly take multiples of 64
// bytes, at most CallBytes; the Go twin takes the rest.
func HashWordsImpls() []Impl[HashFunc] {
	call := func(f func([]byte, uint64, uint64) uint64) HashFunc {
		return func(b []byte, place int, mask uint64) (sum uint64) {
			key := hashSeed + uint64(place)*hashPlace
			for len(b) >= 64 {
				part := b[:min(len(b)&^63, callBytes)]
				sum += f(part, key, mask)
				key += uint64(len(part)/8) * hashPlace
				b = b[len(part):]
			}
			return sum + hashWordsGo(b, key, mask)
		}
	}
	return impls(HashWords, call(hashWordsGo), avx2(call(hashWordsAVX2)), avx512(call(hashWordsAVX512)))
}

// NotEqualFunc is the type of NotEqual.
type NotEqualFunc = func(dst []uint64, x, y []byte) bool

// NotEqualImpls lists the implementations of NotEqual. Those of assembly take multiples of 64
// bytes; the Go twin takes the rest.
func NotEqualImpls() []Impl[NotEqualFunc] {
	call := func(f NotEqualFunc) NotEqualFunc {
		return func(dst []uint64, x, y []byte) bool {
			n := len(x) &^ 63
			first := n > 0 && f(dst, x[:n], y[:n])
			return notEqualGo(dst[n/64:], x[n:], y[n:]) || first
		}
	}
	return impls(NotEqual, notEqualGo, avx2(call(notEqualAVX2)), avx512(call(notEqualAVX512)))
}
