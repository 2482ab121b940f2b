package alloc_test

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// allocator is what Heap and Local have in common.
type allocator interface {
	Alloc(size, align int) (unsafe.Pointer, error)
	AllocZeroed(size, align int) (unsafe.Pointer, error)
	Realloc(p unsafe.Pointer, size, align int) (unsafe.Pointer, error)
	ReallocSized(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error)
	ReallocZeroed(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error)
	Resize(p unsafe.Pointer, size int) bool
	Free(p unsafe.Pointer)
	FreeSized(p unsafe.Pointer, size, align int)
	Usable(p unsafe.Pointer) int
}

func BenchmarkHeapPair(b *testing.B) {
	h := newHeap(b)
	for _, size := range []int{16, 64, 1000, 8000, 9000, 16 << 10, 20_000, 48 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("size=%d/impl=Heap", size), func(b *testing.B) {
			for b.Loop() {
				p, _ := h.Alloc(size, 0)
				h.Free(p)
			}
		})
		l := h.NewLocal()
		b.Run(fmt.Sprintf("size=%d/impl=Local", size), func(b *testing.B) {
			for b.Loop() {
				p, _ := l.Alloc(size, 0)
				l.Free(p)
			}
		})
		l.Close()
	}
}

// BenchmarkHeapBatch allocates 10,000 blocks of 16 to 256 bytes and frees them.
func BenchmarkHeapBatch(b *testing.B) {
	h := newHeap(b)
	blocks := make([]unsafe.Pointer, 10_000)
	run := func(b *testing.B, a allocator, direct func()) {
		for b.Loop() {
			direct()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(blocks)), "ns/pair")
	}
	b.Run("impl=Heap", func(b *testing.B) {
		run(b, h, func() {
			for i := range blocks {
				blocks[i], _ = h.Alloc(16+i*7%240, 0)
			}
			for i := range blocks {
				h.Free(blocks[i])
			}
		})
	})
	l := h.NewLocal()
	defer l.Close()
	b.Run("impl=Local", func(b *testing.B) {
		run(b, l, func() {
			for i := range blocks {
				blocks[i], _ = l.Alloc(16+i*7%240, 0)
			}
			for i := range blocks {
				l.Free(blocks[i])
			}
		})
	})
}

// BenchmarkHeapScatter keeps n blocks of 16 to 512 bytes and replaces one at random by
// one of another size, as programs do that run for long: free slots lie scattered over
// slabs that are nearly full.
func BenchmarkHeapScatter(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		h := newHeap(b)
		l := h.NewLocal()
		for _, c := range []struct {
			name string
			allocator
		}{{"Heap", h}, {"Local", l}} {
			blocks, state := make([]unsafe.Pointer, n), uint64(n)
			random := func(n uint64) uint64 {
				state = state*6364136223846793005 + 1442695040888963407
				return (state >> 32) * n >> 32
			}
			replace := func(i uint64) {
				size := 16 << random(4) * int(1+random(4))
				c.Free(blocks[i])
				blocks[i], _ = c.Alloc(size, 0)
			}
			for i := range 4 * uint64(n) {
				replace(i % uint64(n))
			}
			b.Run(fmt.Sprintf("n=%d/impl=%s", n, c.name), func(b *testing.B) {
				for b.Loop() {
					replace(random(uint64(n)))
				}
			})
			freeAll(c, blocks)
		}
		l.Close()
	}
}

// BenchmarkHeapParallel has goroutines allocate and free at the same time.
func BenchmarkHeapParallel(b *testing.B) {
	h := newHeap(b)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			p, err := h.Alloc(64, 0)
			if err != nil {
				b.Error(err)
			}
			h.Free(p)
		}
	})
}

// BenchmarkHeapMapping allocates and frees 1.5 MB.
func BenchmarkHeapMapping(b *testing.B) {
	h := newHeap(b)
	for b.Loop() {
		p, err := h.Alloc(1_500_000, 0)
		require.NoError(b, err)
		h.Free(p)
	}
	require.NoError(b, h.Trim())
}

var _ = []allocator{(*alloc.Heap)(nil), (*alloc.Local)(nil)}

// BenchmarkZeroed compares AllocZeroed with Alloc and a clear.
func BenchmarkZeroed(b *testing.B) {
	h := newHeap(b)
	l := h.NewLocal()
	defer l.Close()
	for _, size := range []int{64, 256, 1024} {
		for i, a := range []allocator{h, l} {
			name := []string{"Heap", "Local"}[i]
			b.Run(fmt.Sprintf("size=%d/impl=%s/by=AllocZeroed", size, name), func(b *testing.B) {
				for b.Loop() {
					p, _ := a.AllocZeroed(size, 0)
					a.Free(p)
				}
			})
			b.Run(fmt.Sprintf("size=%d/impl=%s/by=clear", size, name), func(b *testing.B) {
				for b.Loop() {
					p, _ := a.Alloc(size, 0)
					clear(bytesOf(p, size))
					a.Free(p)
				}
			})
		}
	}
}
