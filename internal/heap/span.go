package heap

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"quarry/internal/debug"
	"quarry/internal/universe"
	"quarry/internal/universe/memory"
	"quarry/internal/universe/sentinel"
	"quarry/mmap"
)

// Blocks above 1 MiB in the universe: spans of chunks (span.go). At most one span begins in a
// megachunk, so the heap keeps one head for each megachunk, made with the first span:
//
//	heads    | head | 0 | 0 | head | ...     8 B per megachunk, 128 KiB for 16 GiB
//	           first chunk 7, 150 chunks; the next span begins in megachunk 3
//
// The heap keeps no freed spans: the universe does (internal/universe/kept.go), and releases them
// to requests that need the room, where granules that become empty stay committed for a while
// (internal/universe/trim.go).
//
// As with runs, the goroutine that changes a head by compare-and-swap may change the span.

// A span's head has its kind and its first chunk where other heads have them, and in the place of
// the owner its number of chunks less one.
func spanHead(first universe.ChunkIndex, n int) uint64 {
	return headOf(kindSpan, 0, 0, first, uint32(n-1))
}

func spanChunks(head uint64) int { return int(ownerIn(head)) + 1 }

// spanHeads finds the span of a megachunk. It is nil until the first span, and after Close.
type spanHeads = []atomic.Uint64

// heads returns the heads of spans, which it makes when there are none.
func (h *Heap) heads() spanHeads {
	if t := h.spans.Load(); t != nil {
		return *t
	}
	t := make(spanHeads, h.u.Index.Words())
	h.spans.CompareAndSwap(nil, &t)
	return *h.spans.Load()
}

// spanAt returns the head for spans that begin in megachunk m, or nil.
func (h *Heap) spanAt(m int) *atomic.Uint64 {
	if t := h.spans.Load(); t != nil {
		return &(*t)[m]
	}
	return nil
}

// allocSpan allocates a block of whole chunks across megachunks. The bare ErrFull means that the
// universe has no room for it.
func (h *Heap) allocSpan(name string, l *Local, size, align int, want universe.Flags) (unsafe.Pointer, error) {
	if size > h.u.Size() { // before it is rounded up, which may overflow
		return nil, sentinel.ErrFull
	}
	n := max(universe.ChunksFor(size), universe.LeastSpan)
	if h.confined {
		want |= universe.WholeSpan
	}
	c, err := h.u.AllocSpan(n, align, want)
	if err != nil && (err != sentinel.ErrFull || h.confined) && h.reclaim(l) {
		c, err = h.u.AllocSpan(n, align, want)
	}
	if err == sentinel.ErrFull {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("alloc: %s: block of %d bytes: %w", name, size, err)
	}
	h.u.Spans.Held.Add(int64(n))
	h.heads()[c/universe.ChunksPerMegachunk].Store(spanHead(c, n))
	return h.u.Pointer(c), nil
}

// spanAround returns the head of the span that contains c, or 0.
func (h *Heap) spanAround(c universe.ChunkIndex) uint64 {
	t := h.spans.Load()
	if t == nil {
		return 0
	}
	for m := int(c) / universe.ChunksPerMegachunk; m >= 0; m-- {
		head := (*t)[m].Load()
		if head == 0 || firstIn(head) > c {
			continue
		}
		if int(c-firstIn(head)) < spanChunks(head) {
			return head
		}
		return 0
	}
	return 0
}

// freeSpan frees a span.
func (h *Heap) freeSpan(name string, b *block) {
	first, n := firstIn(b.head), spanChunks(b.head)
	if !h.spanAt(int(first)/universe.ChunksPerMegachunk).CompareAndSwap(b.head, 0) {
		b.panicRaced(name, n)
	}
	h.u.Spans.Held.Add(int64(-n))
	h.u.Keep(first, n)
}

//go:noinline
func (b *block) panicRaced(name string, n int) {
	panic(fmt.Sprintf("alloc: %s: %p, a block of %d chunks, was freed or resized by two goroutines at once",
		name, b.p, n))
}

// resizeSpan changes the number of chunks of a span in place and reports whether it could. A span
// does not become shorter than universe.LeastSpan.
func (h *Heap) resizeSpan(b *block, size int) bool {
	first, have := firstIn(b.head), spanChunks(b.head)
	if size > memory.MaxSize {
		return false
	}
	want := max(universe.ChunksFor(size), universe.LeastSpan)
	if !memory.Fits(want*universe.ChunkSize, size) ||
		want > have && !((h.confined || h.u.Spans.RoomFor(want-have)) && h.u.ExtendSpan(first, have, want-have)) {
		return false
	}
	if want == have {
		return true
	}
	if !h.spanAt(int(first)/universe.ChunksPerMegachunk).CompareAndSwap(b.head, spanHead(first, want)) {
		if want > have {
			h.u.DropSpan(first+universe.ChunkIndex(have), want-have)
		}
		b.panicRaced("Heap.Resize", have)
	}
	if want < have && !h.u.FreeSpan(first+universe.ChunkIndex(want), have-want) {
		b.panicRaced("Heap.Resize", have)
	}
	h.u.Spans.Held.Add(int64(want - have))
	return true
}

// leastVacated is the length in bytes of the smallest block whose pages are given back while it
// moves. Smaller ones stay hot for others.
const leastVacated = 4 << 20

// moveTo copies n bytes of a block that is about to be freed. Of a large one it gives back each
// granule that is copied, so that the copy does not need twice the memory. It does not matter when
// the system refuses that.
func (b *block) moveTo(q unsafe.Pointer, n int) {
	if b.kind() != kindSpan || n < leastVacated || debug.On {
		memory.Move(q, b.p, n)
		return
	}
	for off := 0; off < n; {
		// To the end of the granule, counted in the block's universe.
		step := min(n-off, mmap.Granule-(int(firstIn(b.head))*universe.ChunkSize+off)%mmap.Granule)
		// Safe because both blocks have n bytes.
		memory.Move(unsafe.Add(q, off), unsafe.Add(b.p, off), step)
		if step == mmap.Granule {
			_ = b.h.u.DiscardPart(firstIn(b.head), off, step)
		}
		off += step
	}
}

// eachSpan calls f for every span.
func (h *Heap) eachSpan(f func(head uint64)) {
	t := h.spans.Load()
	if t == nil {
		return
	}
	for m := range *t {
		if head := (*t)[m].Load(); head != 0 {
			f(head)
		}
	}
}

// closeSpans frees all spans. mu is held.
func (h *Heap) closeSpans() {
	h.eachSpan(func(head uint64) {
		h.u.FreeSpan(firstIn(head), spanChunks(head))
		h.u.Spans.Held.Add(int64(-spanChunks(head)))
	})
	h.spans.Store(nil)
}

// verifySpans checks H10.
func (v *heapCheck) verifySpans() {
	end := universe.ChunkIndex(0) // of the span before
	v.h.eachSpan(func(head uint64) {
		first, n := firstIn(head), spanChunks(head)
		if head != spanHead(first, n) || n < universe.LeastSpan || first < end ||
			v.h.spanAt(int(first)/universe.ChunksPerMegachunk).Load() != head {
			v.fail("H10: the head of a span is %#x: %d chunks from %d on, the span before ends at %d",
				head, n, first, end)
		}
		for c := first; c < first+universe.ChunkIndex(n); c++ {
			s := v.h.table.at(c)
			if !v.h.u.InUse(c) || s != nil && s.head.Load() != 0 {
				v.fail("H10: chunk %d of a span of %d from %d on: in use in the universe %v, with a head of its own %v",
					c, n, first, v.h.u.InUse(c), s != nil && s.head.Load() != 0)
			}
		}
		end = first + universe.ChunkIndex(n)
	})
}
