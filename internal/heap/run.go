package heap

import (
	"fmt"
	"math/bits"
	"unsafe"

	"quarry/internal/universe"
	"quarry/internal/universe/memory"
	"quarry/internal/universe/sentinel"
)

// Runs: blocks of 1 to 64 chunks, of one megachunk or, from 17 chunks on, of two (span.go). Only
// the first chunk has a head. Runs need no lock: their chunks
// belong to no one else, and the goroutine that changes the head by compare-and-swap may change the
// run.

func (h *Heap) allocRun(name string, l *Local, size int, want universe.Flags) (unsafe.Pointer, error) {
	n := universe.ChunksFor(size)
	if l != nil {
		if p := l.takeRun(n); p != nil {
			if want == universe.ZeroedRun {
				memory.Zero(p, size)
			}
			return p, nil
		}
	}
	c, err := h.u.AllocRun(n, want)
	if err != nil && h.reclaim(l) {
		c, err = h.u.AllocRun(n, want)
	}
	if err != nil {
		return nil, fmt.Errorf("alloc: %s: block of %d chunks: %w", name, n, err)
	}
	h.table.made(c).head.Store(headOf(kindRun, 0, n, c, 0))
	return h.u.Pointer(c), nil
}

// takeRun returns a run that the universe keeps, or nil: for Alloc, which finds one by the long way
// as well.
//
//go:noinline
func (h *Heap) takeRun(size, align int) unsafe.Pointer {
	if size <= maxSlot || size > MaxRunBytes || uint(align) > universe.ChunkSize || align&(align-1) != 0 ||
		h.u == nil || h.Closed.Load() || h.supply.rest.Load() > 0 {
		return nil
	}
	if _, wide := wideIn(size, align); wide {
		return nil
	}
	n := universe.ChunksFor(size)
	c, ok := h.u.TakeKept(n, 1, universe.AnyRun)
	if !ok {
		return nil
	}
	h.table.made(c).head.Store(headOf(kindRun, 0, n, c, 0))
	return h.u.Pointer(c)
}

// allocAlignedRun allocates a run at a multiple of align, which is above ChunkSize: the beginning
// of a run whose length is a power of two. The bare ErrFull means that this is longer
// than a megachunk or that there is none.
func (h *Heap) allocAlignedRun(size, align int, want universe.Flags) (unsafe.Pointer, error) {
	n := universe.ChunksFor(size)
	wide := 1 << bits.Len(uint(max(n, align/universe.ChunkSize)-1))
	if wide > universe.ChunksPerMegachunk || h.base%uintptr(align) != 0 {
		return nil, sentinel.ErrFull
	}
	c, err := h.u.Exact(wide, want|universe.AlignedRun, "AllocAligned")
	if err != nil {
		return nil, sentinel.ErrFull
	}
	if wide > n {
		h.u.Free(c+universe.ChunkIndex(n), wide-n)
	}
	h.table.made(c).head.Store(headOf(kindRun, 0, n, c, 0))
	return h.u.Pointer(c), nil
}

func (h *Heap) freeRun(name string, b *block) {
	if !b.s.head.CompareAndSwap(b.head, 0) {
		panic(fmt.Sprintf("alloc: %s: %p, a block of %d chunks, was freed or resized by two goroutines at once",
			name, b.p, chunksIn(b.head)))
	}
	if n := chunksIn(b.head); n > 1 {
		h.u.Keep(firstIn(b.head), n)
	} else {
		h.u.Free(firstIn(b.head), 1) // as quick, and found for slabs
	}
}

// runAround returns the head of the run that contains c, a chunk without a head, or 0.
func (h *Heap) runAround(c universe.ChunkIndex) uint64 {
	for i := int(c); i >= 0 && int(c)-i < universe.ChunksPerMegachunk; i-- {
		s := h.table.at(universe.ChunkIndex(i))
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
	if size > MaxRunBytes {
		return false
	}
	want := universe.ChunksFor(size)
	if !memory.Fits(want*universe.ChunkSize, size) || want > have && !h.u.ExtendRun(c, have, want-have) {
		return false
	}
	if want == have {
		return true
	}
	if !b.s.head.CompareAndSwap(b.head, headOf(kindRun, 0, want, c, 0)) {
		if want > have {
			h.u.FreeRun(c+universe.ChunkIndex(have), want-have)
		}
		panic(fmt.Sprintf(
			"alloc: Heap.Resize: %p, a block of %d chunks, was freed or resized by two goroutines at once", b.p, have))
	}
	if want < have {
		h.u.FreeRun(c+universe.ChunkIndex(want), have-want)
	}
	return true
}
