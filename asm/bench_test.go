package asm_test

import (
	"fmt"
	"math"
	"testing"

	"quarry/asm"
)

// Lengths in elements: around the thresholds, one chunk's column (L1), L2, L3.
var axpyLengths = []int{4, 8, 16, 32, 64, 256, 2048, 32768, 1 << 20}

func BenchmarkAxpy(b *testing.B) {
	for _, n := range axpyLengths {
		for _, impl := range asm.AxpyImpls32() {
			benchmarkAxpy(b, impl, "float32", n)
		}
		for _, impl := range asm.AxpyImpls64() {
			benchmarkAxpy(b, impl, "float64", n)
		}
	}
}

func benchmarkAxpy[F asm.Float](b *testing.B, impl asm.Impl[asm.AxpyFunc[F]], kind string, n int) {
	b.Run(fmt.Sprintf("impl=%s/type=%s/n=%d", impl.Name, kind, n), func(b *testing.B) {
		dst, x := make([]F, n), make([]F, n)
		for i := range x {
			x[i] = 1
		}
		runs := 0
		for b.Loop() {
			impl.Func(dst, 0.5, x)
			runs++
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(runs)/float64(n), "ns/element")
		// Sums of halves are exact up to 2^24 in float32, 2^53 in float64; behind
		// that the value stops growing, which the last comparison allows.
		if want := F(min(float64(runs)/2, 1<<23)); dst[n-1] < want || dst[0] != dst[n-1] {
			b.Fatalf("after %d runs: got %v and %v, want %v", runs, dst[0], dst[n-1], want)
		}
	})
}

func BenchmarkFirstNotFull(b *testing.B) {
	for _, n := range []int{1, 4, 8, 16, 32, 64, 256, 2048, 16384} {
		w := make([]uint64, n)
		for i := range w {
			w[i] = math.MaxUint64
		}
		w[n-1] = 1
		for _, impl := range asm.FirstNotFullImpls() {
			b.Run(fmt.Sprintf("impl=%s/words=%d", impl.Name, n), func(b *testing.B) {
				b.SetBytes(int64(n) * 8)
				sum, runs := 0, 0
				for b.Loop() {
					sum += impl.Func(w)
					runs++
				}
				if want := runs * (n - 1); sum != want {
					b.Fatalf("got %d want %d", sum, want)
				}
			})
		}
	}
}
