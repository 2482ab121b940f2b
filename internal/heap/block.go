package heap

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"quarry/internal/universe"
	"quarry/internal/universe/memory"
)

// Finding the block that begins at an address.

// block is a live block.
type block struct {
	p      unsafe.Pointer
	h      *Heap // the heap or the overflow heap that it lies in; set by lookup
	s      *slab // nil: a mapping
	head   uint64
	slot   int
	usable int // bytes
}

func (b *block) kind() uint64 { return b.head & kindMask }

// word returns the index of the word of live that holds the block's bit, and the bit.
func (b *block) word() (i int, m uint64) { return b.slot / 64, 1 << (b.slot % 64) }

// isLive reports whether the block is in use by the masks.
func (b *block) isLive() bool {
	if at, m := classes[classIn(b.head)].start(b.slot); ownerIn(b.head) != 0 &&
		atomic.LoadUint64(&b.s.own()[at])&m == 0 {
		return false
	}
	i, m := b.word()
	return b.s.live[i].Load()&m != 0
}

// whyFree returns the text of a panic about the block's slot being free.
func (b *block) whyFree() string {
	return fmt.Sprintf(", slot %d of chunk %d, is free (freed twice?)", b.slot, firstIn(b.head))
}

//go:noinline
func (b *block) panicFree(name string) {
	panic(fmt.Sprintf("alloc: %s: %p%s", name, b.p, b.whyFree()))
}

// chunkOf returns the chunk of the universe that p points into, and false for other addresses and
// after Close.
func (h *Heap) chunkOf(p unsafe.Pointer) (universe.ChunkIndex, bool) {
	offset := uintptr(p) - h.base
	return universe.ChunkIndex(offset / universe.ChunkSize), offset/universe.MegachunkSize < uintptr(len(h.table))
}

// find looks up the live block at b.p and panics when there is none.
func (h *Heap) find(name string, b *block) {
	if why := h.lookup(b); why != "" {
		if h.Closed.Load() {
			panicClosed(name, true)
		}
		panic(fmt.Sprintf("alloc: %s: %p%s", name, b.p, why))
	}
}

// lookup fills in the live block at b.p, or returns why there is none.
func (h *Heap) lookup(b *block) (why string) {
	b.h = h
	c, ok := h.chunkOf(b.p)
	if !ok {
		if a := h.overflowAt(b.p); a != nil {
			return a.lookup(b)
		}
		b.usable, _, why = h.mappings.Lookup(b.p)
		return why
	}
	if b.s = h.table.at(c); b.s != nil {
		b.head = b.s.head.Load()
	}
	in := uint32((uintptr(b.p) - h.base) % universe.ChunkSize)
	switch b.kind() {
	case kindSlots:
		k := &classes[classIn(b.head)]
		b.slot, b.usable = int(k.slot(in)), int(k.size)
		if inside := in - uint32(b.slot)*k.size; inside != 0 || in >= k.end {
			return fmt.Sprintf(" points %d bytes into a slot of %d bytes", inside, k.size)
		}
		if !b.isLive() {
			return b.whyFree()
		}
		return ""
	case kindWide, kindInterior:
		return h.lookupWide(b)
	case kindCached:
		return fmt.Sprintf(", in a block of %d chunks at chunk %d, is free (freed twice?)", chunksIn(b.head), c)
	}
	if b.head == 0 {
		b.head = h.spanAround(c)
	}
	if b.head == 0 {
		b.head = h.runAround(c)
	}
	if b.head == 0 {
		return fmt.Sprintf(", in chunk %d, is not a block of this heap (freed twice, or of another heap?)", c)
	}
	n := chunksIn(b.head)
	if b.kind() == kindSpan {
		n = spanChunks(b.head)
	}
	if inside := int(c-firstIn(b.head))*universe.ChunkSize + int(in); inside != 0 {
		return fmt.Sprintf(" points %d bytes into a block of %d chunks", inside, n)
	}
	b.usable = n * universe.ChunkSize
	return ""
}

// lookupWide is lookup for an address in a wide slab.
func (h *Heap) lookupWide(b *block) (why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if inside, live := h.findWide(b); inside != 0 {
		return fmt.Sprintf(" points %d bytes into a slot of %d bytes", inside, b.usable)
	} else if !live {
		return b.whyFree()
	}
	return ""
}

// Usable is Heap.Usable of package alloc.
func (h *Heap) Usable(p unsafe.Pointer) int {
	b := block{p: p}
	h.find("Heap.Usable", &b)
	return b.usable
}

// Owns is Heap.Owns of package alloc.
func (h *Heap) Owns(p unsafe.Pointer) bool {
	return h.lookup(&block{p: p}) == "" && !h.Closed.Load()
}

// FreeSized is Heap.FreeSized of package alloc.
func (h *Heap) FreeSized(p unsafe.Pointer, size, align int) {
	if uint(size) <= maxSlot && uint(align) <= memory.Quantum && align&(align-1) == 0 {
		// In a slab of the class that such a request gets, whether p is a live slot is left to
		// check.
		if c, ok := h.chunkOf(p); ok {
			if s := h.table.at(c); s != nil {
				head := s.head.Load()
				if head&kindMask == kindSlots && h.freeSlotOf(p, size, head) {
					return
				}
			}
		}
	}
	if p != nil {
		b := block{p: p}
		h.find("Heap.FreeSized", &b)
		h.checkSized("Heap.FreeSized", &b, size, align)
		h.freeBlock("Heap.FreeSized", &b)
	}
}

// freeSlotOf frees the block at p if it is a slot of the class for size, in a slab with that head.
func (h *Heap) freeSlotOf(p unsafe.Pointer, size int, head uint64) bool {
	return classIn(head) == int(classOf[(size+memory.Quantum-1)/memory.Quantum]) && h.freeSlot(p)
}

// checkSized panics when the block cannot have the given size and alignment.
func (h *Heap) checkSized(name string, b *block, size, align int) {
	h.checkRequest(name, nil, size, align)
	if uintptr(b.p)&uintptr(max(align, 1)-1) != 0 || !memory.Fits(b.usable, size) && !b.placed(size, align) {
		panic(fmt.Sprintf("alloc: %s: the block at %p has %d usable bytes: it was not allocated with size=%d align=%d",
			name, b.p, b.usable, size, align))
	}
}

// placed reports whether a request for size and align would get a block of this kind and class.
func (b *block) placed(size, align int) bool {
	if size <= maxSlot {
		if number, ok := classFor(size, align); ok {
			return b.kind() == kindSlots && classIn(b.head) == number
		}
	}
	if number, ok := wideFor(size, align); ok && b.kind() == kindWide {
		return classIn(b.head) == number
	}
	switch b.kind() {
	case kindRun:
		return size <= MaxRunBytes && chunksIn(b.head) == universe.ChunksFor(size)
	case kindSpan:
		return size > MaxRunBytes && spanChunks(b.head) == universe.ChunksFor(size)
	}
	return b.s == nil && (size > MaxRunBytes || align > universe.ChunkSize) && size <= b.usable
}

// Realloc is Heap.Realloc of package alloc.
func (h *Heap) Realloc(p unsafe.Pointer, size, align int) (unsafe.Pointer, error) {
	return h.realloc("Heap.Realloc", nil, p, size, align)
}

func (h *Heap) realloc(name string, l *Local, p unsafe.Pointer, size, align int) (unsafe.Pointer, error) {
	if p == nil {
		return h.alloc(name, l, size, align, universe.AnyRun)
	}
	h.checkRequest(name, l, size, align)
	b := block{p: p}
	h.find(name, &b)
	return h.rehouse(name, l, &b, b.usable, align, size, false)
}

// rehouse changes a block of size bytes to one of to bytes, in place or by moving it. When zeroed
// is set, the bytes added are zero.
func (h *Heap) rehouse(name string, l *Local, b *block, size, align, to int, zeroed bool) (unsafe.Pointer, error) {
	if uintptr(b.p)&uintptr(max(align, 1)-1) == 0 &&
		(memory.Fits(b.usable, to) || b.placed(to, align) || h.resize(l, b, to)) {
		if b.head == 0 {
			to = min(to, b.usable) // pages of a mapping that were just committed read zero
		}
		if zeroed && to > size {
			// Safe because the block has to bytes.
			memory.Zero(unsafe.Add(b.p, size), to-size)
		}
		return b.p, nil
	}
	q, clean, err := h.allocTold(name, l, to, align, universe.AnyRun)
	if err != nil {
		return nil, err
	}
	b.moveTo(q, min(size, to))
	if zeroed && !clean && to > size {
		// Safe because the block has to bytes.
		memory.Zero(unsafe.Add(q, size), to-size)
	}
	if l != nil {
		l.Free(b.p) // which may be one of its own, at hand
	} else {
		h.freeBlock(name, b)
	}
	return q, nil
}

// Resize is Heap.Resize of package alloc.
func (h *Heap) Resize(p unsafe.Pointer, size int) bool {
	return h.resizeNamed("Heap.Resize", nil, p, size)
}

func (h *Heap) resizeNamed(name string, l *Local, p unsafe.Pointer, size int) bool {
	h.checkRequest(name, l, size, 0)
	b := block{p: p}
	h.find(name, &b)
	return h.resize(l, &b, size)
}

func (h *Heap) resize(l *Local, b *block, size int) bool {
	h = b.h
	switch {
	case b.kind() == kindSpan:
		return h.resizeSpan(b, size)
	case b.s == nil:
		return h.mappings.Resize(b.p, size, false)
	case b.kind() == kindRun:
		return h.resizeRun(b, size) || l != nil && l.dropBehind(b) && h.resizeRun(b, size)
	}
	return memory.Fits(b.usable, size)
}
