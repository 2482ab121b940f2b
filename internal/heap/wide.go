package heap

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"quarry/internal/debug"
	"quarry/internal/universe"
	"quarry/internal/universe/memory"
)

// Wide slabs: runs of 2 to 8 chunks cut into 2 to 7 slots, for blocks of half a chunk to two and a
// half chunks. In a run of its own such a block would leave up to a half unused (measured on a
// recording of git log: live bytes are 0.80 of the growth of resident memory without wide slabs,
// 0.86 with them). Such blocks are few, and filling one takes longer than a lock, so everything is
// under the heap's lock, except what Locals keep for reuse (localwide.go). The mask is the first
// word of own of the first chunk's slab.
//
//	slots of chunks   7 of 4   3 of 2  4 of 3   7 of 8   4 of 5   3 of 4   2 of 3   2 of 5
//	size, bytes       9,344    10,880  12,288   18,688   20,480   21,824   24,576   40,960
//
// The sizes are multiples of 64, so that blocks aligned to a cache line find a place here too.

// wideClass is a size class of wide slabs.
type wideClass struct {
	size   int // bytes of a slot
	chunks int // of a slab
	slots  int
}

var wideClasses = [...]wideClass{
	{9344, 4, 7}, {10880, 2, 3}, {12288, 3, 4}, {18688, 8, 7},
	{20480, 5, 4}, {21824, 4, 3}, {24576, 3, 2}, {40960, 5, 2},
}

// beyond returns the bits that stand for no slot, which are always set.
func (k *wideClass) beyond() uint64 { return ^uint64(0) << k.slots }

// wideFor returns the smallest wide class for a block, all of whose slots are aligned to align, or
// false when a run would be no larger.
func wideFor(size, align int) (int, bool) {
	if size <= maxSlot {
		return 0, false
	}
	run := (size + universe.ChunkSize - 1) / universe.ChunkSize * universe.ChunkSize
	for i := range wideClasses {
		// Slot j lies at j*size of the first chunk, and chunks are aligned to 16 KiB.
		k := &wideClasses[i]
		if k.size >= run {
			break
		}
		if size <= k.size && k.size%max(align, 1) == 0 {
			return i, true
		}
	}
	return 0, false
}

// allocWide allocates a wide slot, or returns nil when there is no room for a slab.
func (h *Heap) allocWide(number int) unsafe.Pointer {
	k := &wideClasses[number]
	h.mu.Lock()
	defer h.mu.Unlock()
	list := &h.wide[number]
	if list.head == 0 && !h.growWide(number) {
		return nil
	}
	s := h.table.link(list.head)
	slot := bits.TrailingZeros64(^s.own()[0])
	s.own()[0] |= 1 << slot
	atomic.StoreUint64(s.wideSlot(slot), usedWord(number))
	if s.own()[0] == ^uint64(0) {
		list.remove(h.table, s)
	}
	// Safe because the slot lies in the slab's chunks, which the heap holds.
	p := unsafe.Add(h.u.Pointer(s.chunk()), slot*k.size)
	if debug.On {
		memory.Poison(p, k.size, debug.Fresh)
	}
	return p
}

// growWide adds an empty slab and reports whether there was room. mu is held.
func (h *Heap) growWide(number int) bool {
	k := &wideClasses[number]
	c, err := h.u.AllocExact(k.chunks)
	if err != nil {
		return false
	}
	for i := 1; i < k.chunks; i++ {
		h.table.made(c + universe.ChunkIndex(i)).head.Store(headOf(kindInterior, number, k.chunks, c, 0))
	}
	s := h.table.made(c)
	s.own()[0] = k.beyond()
	for slot := range k.slots {
		atomic.StoreUint64(s.wideSlot(slot), wideFree)
	}
	s.head.Store(headOf(kindWide, number, k.chunks, c, 0))
	h.wide[number].push(h.table, s)
	return true
}

// findWide fills in a block that lies in a wide slab, and returns the offset of its address in its
// slot and whether the slot is in use. mu is held.
func (h *Heap) findWide(b *block) (inside int, live bool) {
	k := &wideClasses[classIn(b.head)]
	first := firstIn(b.head)
	if b.s = h.table.at(first); b.s == nil {
		return 0, false // freed and trimmed since the caller looked
	}
	head := b.s.head.Load()
	same := classIn(head) == classIn(b.head) // else the slab was made anew since the caller looked
	b.head = head
	b.usable = k.size
	in, size := uint32(uintptr(b.p)-h.base-uintptr(first)*universe.ChunkSize), uint32(k.size)
	b.slot, inside = int(in/size), int(in%size)
	return inside, same && b.kind() == kindWide && b.slot < k.slots &&
		atomic.LoadUint64(b.s.wideSlot(b.slot)) == usedWord(classIn(head))
}

// freeWide frees the wide slot at p, or returns false when there is no such block. An empty slab is
// kept when it is the last of its class, against thrashing.
func (h *Heap) freeWide(p unsafe.Pointer, head uint64) bool {
	b := block{p: p, head: head}
	h.mu.Lock()
	defer h.mu.Unlock()
	if inside, live := h.findWide(&b); inside != 0 || !live {
		return false
	}
	number := classIn(b.head)
	if !atomic.CompareAndSwapUint64(b.s.wideSlot(b.slot), usedWord(number), wideFree) {
		return false // a Local freed it just now
	}
	if debug.On {
		memory.Poison(p, b.usable, debug.Freed)
	}
	list, w := &h.wide[number], &b.s.own()[0]
	if *w == ^uint64(0) {
		list.push(h.table, b.s)
	}
	*w &^= 1 << b.slot
	if *w == wideClasses[number].beyond() && (b.s.next != 0 || b.s.prev != 0) {
		h.dropWide(b.s, number)
	}
	return true
}

// dropWide frees an empty slab. mu is held.
func (h *Heap) dropWide(s *slab, number int) {
	h.wide[number].remove(h.table, s)
	c, n := s.chunk(), wideClasses[number].chunks
	for i := range n {
		h.table.at(c + universe.ChunkIndex(i)).head.Store(0)
	}
	h.u.Free(c, n)
}

// reclaimWide drops all empty slabs and reports whether there was one. mu is held.
func (h *Heap) reclaimWide() (some bool) {
	for number := range wideClasses {
		for at := h.wide[number].head; at != 0; {
			s := h.table.link(at)
			at = s.next
			if s.own()[0] == wideClasses[number].beyond() {
				h.dropWide(s, number)
				some = true
			}
		}
	}
	return some
}

// wideUsed counts the slots in use and those that Locals keep. mu is held.
func (s *slab) wideUsed(number int) (used, kept int) {
	taken := bits.OnesCount64(s.own()[0] &^ wideClasses[number].beyond())
	for slot := range wideClasses[number].slots {
		if atomic.LoadUint64(s.wideSlot(slot)) == usedWord(number) {
			used++
		}
	}
	return used, max(0, taken-used)
}
