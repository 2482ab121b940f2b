package alloc_test

import (
	"fmt"
	"testing"
	"unsafe"
)

// BenchmarkSpanPair allocates and frees a block that the heap has just freed, and touches its
// first byte.
func BenchmarkSpanPair(b *testing.B) {
	for _, size := range []int{1<<20 + 1, 4 << 20, 16 << 20, 64 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			h := newHeap(b)
			for b.Loop() {
				p, _ := h.Alloc(size, 0)
				*(*byte)(p) = 1
				h.Free(p)
			}
		})
	}
}

// BenchmarkSpans allocates blocks of 1 MiB and a byte, all of which stay live for the round.
func BenchmarkSpans(b *testing.B) {
	h := newHeap(b)
	var live []unsafe.Pointer
	for b.Loop() {
		if len(live) == 4000 {
			b.StopTimer()
			freeAll(h, live)
			live = live[:0]
			b.StartTimer()
		}
		live = append(live, must(h.Alloc(1<<20+1, 0)))
	}
	freeAll(h, live)
}
