package alloc

import (
	"fmt"
	"math/bits"
	"unsafe"
)

// Runs: blocks of 1 to 64 chunks, of one megachunk or, from 17 chunks on, of two (span.go). Only
// the first chunk has a head. Runs need no lock: their chunks
// belong to no one else, and the goroutine that changes the head by compare-and-swap may change the
// run.

func (h *Heap) allocRun(name string, l *Local, size int, want wish) (unsafe.Pointer, error) {
	n := chunksFor(size)
	if l != nil {
		if p := l.takeRun(n); p != nil {
			if want == zeroedRun {
				zero(p, size)
			}
			return p, nil
		}
	}
	c, err := h.u.allocRun(n, want)
	if err != nil && h.reclaim(l) {
		c, err = h.u.allocRun(n, want)
	}
	if err != nil {
		return nil, fmt.Errorf("alloc: %s: block of %d chunks: %w", name, n, err)
	}
	h.table.made(c).head.Store(headOf(kindRun, 0, n, c, 0))
	return h.u.Pointer(c), nil
}

// allocAlignedRun allocates a run at a multiple of align, which is above ChunkSize: the beginning
// of a run whose length is a power of two. The bare ErrFull means that this is longer
// than a megachunk or that there is none.
func (h *Heap) allocAlignedRun(size, align int, want wish) (unsafe.Pointer, error) {
	n := chunksFor(size)
	wide := 1 << bits.Len(uint(max(n, align/ChunkSize)-1))
	if wide > ChunksPerMegachunk || h.base%uintptr(align) != 0 {
		return nil, ErrFull
	}
	c, err := h.u.exact(wide, want|alignedRun, "AllocAligned")
	if err != nil {
		return nil, ErrFull
	}
	if wide > n {
		h.u.Free(c+ChunkIndex(n), wide-n)
	}
	h.table.made(c).head.Store(headOf(kindRun, 0, n, c, 0))
	return h.u.Pointer(c), nil
}

func (h *Heap) freeRun(name string, b *block) {
	if !b.s.head.CompareAndSwap(b.head, 0) {
		panic(fmt.Sprintf("alloc: %s: %p, a block of %d chunks, was freed or resized by two goroutines at once",
			name, b.p, chunksIn(b.head)))
	}
	h.u.freeRun(firstIn(b.head), chunksIn(b.head))
}

// runAround returns the head of the run that contains c, a chunk without a head, or 0.
func (h *Heap) runAround(c ChunkIndex) uint64 {
	for i := int(c); i >= 0 && int(c)-i < ChunksPerMegachunk; i-- {
		s := h.table.at(ChunkIndex(i))
		if s == nil {
			continue // the end of a run that begins in the megachunk before
		}
		if head := s.head.Load(); head != 0 {
			if head&kindMask == kindRun && int(c)-i < chunksIn(head) {
				return head
			}
			break
		}
	}
	return 0
}

// resizeRun changes the number of chunks of a run in place and reports whether it could.
func (h *Heap) resizeRun(b *block, size int) bool {
	c, have := firstIn(b.head), chunksIn(b.head)
	if size > maxRunBytes {
		return false
	}
	want := chunksFor(size)
	after := block{s: b.s, head: headOf(kindRun, 0, want, c, 0), usable: want * ChunkSize}
	if !after.couldBe(size) || want > have && !h.u.extendRun(c, have, want-have) {
		return false
	}
	if want == have {
		return true
	}
	if !b.s.head.CompareAndSwap(b.head, after.head) {
		if want > have {
			h.u.freeRun(c+ChunkIndex(have), want-have)
		}
		panic(fmt.Sprintf("alloc: Heap.Resize: %p, a block of %d chunks, was freed or resized by two goroutines at once", b.p, have))
	}
	if want < have {
		h.u.freeRun(c+ChunkIndex(want), have-want)
	}
	return true
}

// freeRun is Free of a run that may lie in two megachunks.
func (u *Universe) freeRun(c ChunkIndex, n int) {
	for n > 0 {
		_, _, k := partOf(c, n)
		u.Free(c, k)
		if k >= leastAcross {
			lowerTo(&u.spans.near, int(c)/ChunksPerMegachunk)
		}
		c, n = c+ChunkIndex(k), n-k
	}
}

// extendRun is Extend of a run that may lie in two megachunks, or may then.
func (u *Universe) extendRun(c ChunkIndex, n, more int) bool {
	if _, _, k := partOf(c, n+more); k == n+more {
		return u.Extend(c, n, more)
	}
	return u.extendSpan(c, n, more)
}
