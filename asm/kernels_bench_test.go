package asm_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"quarry/asm"
)

// Lengths in words or elements: around the thresholds, one chunk's column (L1), L2.
var kernelLengths = []int{8, 16, 32, 64, 256, 2048, 16384}

func benchName(kernel, impl string, n int) string {
	return fmt.Sprintf("kernel=%s/n=%d/impl=%s", kernel, n, impl)
}

func BenchmarkWords(b *testing.B) {
	for _, n := range kernelLengths {
		x, y, dst := make([]uint64, n), make([]uint64, n), make([]uint64, n)
		randomWords(rand.New(rand.NewPCG(1, 2)))(x)
		want := asm.PopCountRef(x)
		for _, impl := range asm.PopCountImpls()[1:] {
			b.Run(benchName("PopCount", impl.Name, n), func(b *testing.B) {
				for b.Loop() {
					if impl.Func(x) != want {
						b.Fatal("wrong count")
					}
				}
			})
		}
		for _, op := range setOps {
			for _, impl := range op.impls[1:] {
				b.Run(benchName(op.name, impl.Name, n), func(b *testing.B) {
					for b.Loop() {
						impl.Func(dst, x, y)
					}
					if want := op.word(x[n-1], y[n-1]); dst[n-1] != want {
						b.Fatalf("got %#x want %#x", dst[n-1], want)
					}
				})
			}
		}
	}
}

// BenchmarkMatch: signatures of which an eighth matches, told apart by bits in
// random words, as archetypes of many component types are.
func BenchmarkMatch(b *testing.B) {
	for _, width := range []int{1, 4, 16} {
		for _, n := range []int{4, 8, 16, 64, 1024, 10000} {
			rnd := rand.New(rand.NewPCG(1, 2))
			table, has, lacks := make([]uint64, n*width), make([]uint64, width), make([]uint64, width)
			for i := range table {
				table[i] = rnd.Uint64()
			}
			for range 3 {
				has[rnd.IntN(width)] |= 1 << rnd.IntN(64)
			}
			dst := make([]uint64, (n+63)/64)
			want := asm.MatchRef(dst, table, has, lacks, width)
			for _, impl := range asm.MatchImpls(width)[1:] {
				b.Run(benchName(fmt.Sprintf("Match/width=%d", width), impl.Name, n), func(b *testing.B) {
					for b.Loop() {
						if impl.Func(dst, table, has, lacks, width) != want {
							b.Fatal("wrong count")
						}
					}
				})
			}
		}
	}
}

func benchmarkRows[T comparable](b *testing.B, kind string) {
	for _, n := range kernelLengths {
		var v T
		dst, src := make([]T, n), make([]T, n)
		randomRows[T](rand.New(rand.NewPCG(1, 2)))(src)
		v = src[0]
		for _, impl := range asm.FillImpls[T]()[1:] {
			b.Run(benchName("Fill"+kind, impl.Name, n), func(b *testing.B) {
				for b.Loop() {
					impl.Func(dst, v)
				}
				if dst[n-1] != v {
					b.Fatalf("got %v want %v", dst[n-1], v)
				}
			})
		}
		mask := make([]uint64, (n+63)/64)
		masks(rand.New(rand.NewPCG(1, 2)), mask, 0)
		want := asm.CompactRef(dst, src, mask)
		for _, impl := range asm.CompactImpls[T]()[1:] {
			b.Run(benchName("Compact"+kind, impl.Name, n), func(b *testing.B) {
				for b.Loop() {
					if impl.Func(dst, src, mask) != want {
						b.Fatal("wrong count")
					}
				}
			})
		}
	}
}

func BenchmarkRows(b *testing.B) {
	benchmarkRows[four](b, "4")
	benchmarkRows[eight](b, "8")
	benchmarkRows[sixteen](b, "16")
	for _, n := range kernelLengths {
		dst := make([][2]uint32, n)
		for _, impl := range asm.ConsecutiveImpls()[1:] {
			b.Run(benchName("Consecutive", impl.Name, n), func(b *testing.B) {
				for b.Loop() {
					impl.Func(dst, 5, 1)
				}
				if want := uint32(n) + 4; dst[n-1][0] != want {
					b.Fatalf("got %v want %v", dst[n-1][0], want)
				}
			})
		}
	}
}

func benchmarkArith[F asm.Float](b *testing.B, kind string, ops []asm.ColumnOp[F], folds []asm.Reduction[F]) {
	for _, n := range kernelLengths {
		dst, x, y := make([]F, n), make([]F, n), make([]F, n)
		for i := range x {
			x[i], y[i] = F(i%7), 1
		}
		for _, op := range ops {
			for _, impl := range op.Impls[1:] {
				b.Run(benchName(op.Name+kind, impl.Name, n), func(b *testing.B) {
					for b.Loop() {
						impl.Func(dst, x, y, 1)
					}
					if math.IsNaN(float64(dst[n-1])) {
						b.Fatal("not a number")
					}
				})
			}
		}
		for _, r := range folds {
			want := r.Ref(x, y)
			// The public function only, at the level that QUARRY_SIMD chooses: the
			// others are called through a variable, and their lanes go to the heap.
			for _, impl := range r.Impls[:1] {
				b.Run(benchName(r.Name+kind, impl.Name, n), func(b *testing.B) {
					for b.Loop() {
						if impl.Func(x, y) != want {
							b.Fatal("wrong result")
						}
					}
				})
			}
		}
	}
}

func BenchmarkArith(b *testing.B) {
	benchmarkArith(b, "32", asm.ColumnOps32(), asm.Reductions32())
	benchmarkArith(b, "64", asm.ColumnOps64(), asm.Reductions64())
}

// BenchmarkFindRun: runs of random lengths, the first fit near the end.
func BenchmarkFindRun(b *testing.B) {
	for _, n := range []int{1, 4, 8, 12, 16, 24, 32, 48, 64} {
		rnd := rand.New(rand.NewPCG(1, 2))
		many := make([][8]uint64, 256)
		sum := 0
		for i := range many {
			runsOf(rnd, &many[i])
			sum += asm.FindRun512Ref(&many[i], n)
		}
		for _, impl := range asm.FindRunImpls()[1:] {
			b.Run(benchName("FindRun512", impl.Name, n), func(b *testing.B) {
				for b.Loop() {
					got := 0
					for i := range many {
						got += impl.Func(&many[i], n)
					}
					if got != sum {
						b.Fatalf("got %d want %d", got, sum)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(many)), "ns/search")
			})
		}
	}
}
