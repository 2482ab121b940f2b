package alloc

import (
	"sync/atomic"
	"unsafe"

	"quarry/internal/debug"
)

// Shared slabs: those that Heap.Alloc uses, and those that Locals left.

// Free gives a block back, wherever it was allocated. nil is allowed and does
// nothing. It panics for an address that is not that of a live block of this heap
// (freed twice, an interior pointer, memory of somebody else).
func (h *Heap) Free(p unsafe.Pointer) {
	offset := uintptr(p) - h.base
	if m := offset / MegachunkSize; m < uintptr(len(h.table)) {
		if page := h.table[m].Load(); page != nil {
			s := &page.slabs[offset/ChunkSize%ChunksPerMegachunk]
			head := s.head.Load()
			shape, in := s.shape.Load(), uint32(offset%ChunkSize)
			if slot, begins := scaled(in, shape); begins && in < uint32(shape>>32) && head&kindMask == kindSlots {
				i, m := int(slot/64)%slotWords, uint64(1)<<(slot%64)
				w := &s.words[i]
				if ownerIn(head) == 0 || atomic.LoadUint64(&w.own)&m != 0 {
					if debug.On && w.live.Load()&m != 0 {
						poison(p, int(classes[classIn(head)].size), debug.Freed)
					}
					if h.release(s, i, m) {
						return
					}
				}
			}
		}
	}
	h.free("Heap.Free", p)
}

// free is Free for any block, and for what is none.
func (h *Heap) free(name string, p unsafe.Pointer) {
	if p == nil {
		return
	}
	if c, ok := h.chunkOf(p); ok {
		if s := h.table.at(c); s != nil {
			head := s.head.Load()
			if kind := head & kindMask; (kind == kindWide || kind == kindInterior) && h.freeWide(p, head) {
				return
			}
		}
	}
	b := block{p: p}
	h.find(name, &b)
	h.freeBlock(name, &b)
}

// freeBlock is free for a block that was live when it was looked up.
func (h *Heap) freeBlock(name string, b *block) {
	switch {
	case b.s == nil:
		h.mappings.free(name, b.p)
	case b.kind() == kindRun:
		h.freeRun(name, b)
	case b.kind() != kindSlots:
		if !h.freeWide(b.p, b.head) {
			b.panicFree(name) // another goroutine freed it just now
		}
	default:
		if debug.On {
			poison(b.p, b.usable, debug.Freed)
		}
		if !h.release(b.s, b.slot/64, 1<<(b.slot%64)) {
			b.panicFree(name)
		}
	}
}

// release clears the bit m of word i of live, tells the owner or the list that has to know, and
// returns false when the bit was clear.
func (h *Heap) release(s *slab, i int, m uint64) bool {
	for live := &s.words[i].live; ; {
		w := live.Load()
		if w&m == 0 {
			return false
		}
		if live.CompareAndSwap(w, w&^m) {
			pause()
			if state := s.state.Load(); state != stateHeld {
				h.released(s, state, i, w&^m)
			}
			return true
		}
	}
}

// released is the rest of release for a slab that nobody holds; w is what its
// word i is now.
func (h *Heap) released(s *slab, state uint32, i int, w uint64) {
	switch state {
	case stateFull:
		if s.state.CompareAndSwap(stateFull, stateListing) {
			h.list(s)
		}
	case stateOwned:
		if s.state.CompareAndSwap(stateOwned, stateMailed) {
			h.post(s)
		}
	case stateListed:
		if k := &classes[classIn(s.head.Load())]; w == k.beyond(i) && s.isEmpty(k) {
			h.mu.Lock()
			h.drop(s, false)
			h.mu.Unlock()
		}
	}
}

// list puts a slab that the caller has set to stateListing into its list.
func (h *Heap) list(s *slab) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.state.Load() == stateListing {
		h.enlist(s)
		h.drop(s, false) // the frees that came meanwhile saw that this is ours to do
	}
}

// enlist lists a shared slab. mu is held.
func (h *Heap) enlist(s *slab) {
	number := classIn(s.head.Load())
	s.state.Store(stateListed)
	s.listed = true
	h.lists[number].push(h.table, s)
	h.listed[number].Add(1)
}

// delist takes a slab out of its list; the caller sets its state. mu is held.
func (h *Heap) delist(s *slab) {
	number := classIn(s.head.Load())
	s.listed = false
	h.lists[number].remove(h.table, s)
	h.listed[number].Add(-1)
}

// drop gives a listed slab's chunk back when the slab is empty. The last one of a
// class is kept, against thrashing, unless all are to go. mu is held.
func (h *Heap) drop(s *slab, all bool) bool {
	if s.state.Load() != stateListed || !s.listed {
		return false
	}
	head := s.head.Load()
	k := &classes[classIn(head)]
	if !all && h.listed[classIn(head)].Load() == 1 || !s.claimAll(k) {
		return false
	}
	h.delist(s)
	s.state.Store(stateNone)
	s.head.Store(0)
	h.supply.give(firstIn(head))
	return true
}

// allocShared hands out a slot of a shared slab under the lock, and makes a slab
// current that has more of them.
func (h *Heap) allocShared(number int) (unsafe.Pointer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed.Load() {
		panicClosed("Heap.Alloc", true)
	}
	k := &classes[number]
	current := &h.shard[h.shards.index()].current[number]
	if s := current.Load(); s != nil {
		if slot, ok := h.claimOrLeave(s, k); ok {
			return h.slotPointer(s.chunk(), uintptr(slot)*uintptr(k.size), k), nil
		}
		current.Store(nil)
	}
	for {
		s, err := h.nextShared(number)
		if err != nil {
			return h.allocElsewhere(number, err)
		}
		s.state.Store(stateHeld)
		if slot, ok := h.claimOrLeave(s, k); ok {
			current.Store(s)
			return h.slotPointer(s.chunk(), uintptr(slot)*uintptr(k.size), k), nil
		}
	}
}

// claimOrLeave takes a slot of a held slab, or else makes the slab one that
// nobody holds. mu is held.
func (h *Heap) claimOrLeave(s *slab, k *class) (slot int, ok bool) {
	for {
		if slot, ok, _ = s.claim(int(k.words)); ok {
			return slot, true
		}
		pause()
		s.state.Store(stateFull)
		if mutant == blindFull || !s.hasRoom(k) || !s.state.CompareAndSwap(stateFull, stateHeld) {
			return 0, false // a free that comes now lists it
		}
	}
}

// nextShared returns a slab that is in no list: a listed one, or a new one. mu is held.
func (h *Heap) nextShared(number int) (*slab, error) {
	if at := h.lists[number].head; at != 0 {
		s := h.table.link(at)
		h.delist(s)
		return s, nil
	}
	return h.newSlab(number, 0)
}

// allocElsewhere takes a slot of another shard's slab when there is no memory for
// a new one. mu is held.
func (h *Heap) allocElsewhere(number int, refused error) (unsafe.Pointer, error) {
	k := &classes[number]
	for i := range h.shard {
		if s := h.shard[i].current[number].Load(); s != nil {
			if slot, ok, _ := s.claim(int(k.words)); ok {
				return h.slotPointer(s.chunk(), uintptr(slot)*uintptr(k.size), k), nil
			}
		}
	}
	return nil, refused
}

// reclaim drops the empty slabs that the heap, and the Local that calls, keep for
// reuse, and the chunks taken ahead. It returns false when there was nothing.
func (h *Heap) reclaim(l *Local) bool {
	some := l != nil && l.reclaim()
	h.mu.Lock()
	defer h.mu.Unlock()
	for number := range classCount {
		k := &classes[number]
		for i := range h.shard {
			current := &h.shard[i].current[number]
			if s := current.Load(); s != nil && s.isEmpty(k) {
				current.Store(nil)
				h.enlist(s)
			}
		}
		for at := h.lists[number].head; at != 0; {
			s := h.table.link(at)
			at = s.next
			if s.isEmpty(k) && h.drop(s, true) {
				some = true
			}
		}
	}
	some = h.reclaimWide() || some
	return h.supply.release() || some
}
