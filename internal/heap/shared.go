package heap

import (
	"sync/atomic"
	"unsafe"

	"quarry/internal/debug"
	"quarry/internal/universe"
	"quarry/internal/universe/memory"
	"quarry/internal/universe/mutant"
)

// Shared slabs: the slabs that Heap.Alloc uses, and the slabs that closed Locals left.

// Free is Heap.Free of package alloc.
func (h *Heap) Free(p unsafe.Pointer) {
	if !h.freeSlot(p) {
		h.free("Heap.Free", p)
	}
}

// freeSlot frees the block at p if it is a slot of a slab, shared or owned. Otherwise it returns
// false and has changed nothing.
func (h *Heap) freeSlot(p unsafe.Pointer) bool {
	offset := uintptr(p) - h.base
	if m := offset / universe.MegachunkSize; m < uintptr(len(h.table)) {
		if page := h.table[m].Load(); page != nil {
			s := &page.slabs[offset/universe.ChunkSize%universe.ChunksPerMegachunk]
			head := s.head.Load()
			shape, in := s.shape.Load(), uint32(offset%universe.ChunkSize)
			if slot, begins := scaled(in, shape); begins && in < uint32(shape>>32) && head&kindMask == kindSlots {
				at := offset / memory.Quantum % quantaPerPage
				if ownerIn(head) == 0 || atomic.LoadUint64(&page.own[at/64])>>(at%64)&1 != 0 {
					i, m := int(slot/64)%slotWords, uint64(1)<<(slot%64)
					if debug.On && s.live[i].Load()&m != 0 {
						memory.Poison(p, int(classes[classIn(head)].size), debug.Freed)
					}
					if h.release(s, i, m) {
						return true
					}
				}
			}
		}
	}
	return false
}

// free is Free for blocks of any kind, and the slow path that reports bad addresses.
func (h *Heap) free(name string, p unsafe.Pointer) {
	if p == nil {
		return
	}
	if c, ok := h.chunkOf(p); ok {
		if s := h.table.at(c); s != nil {
			switch head := s.head.Load(); head & kindMask {
			case kindWide, kindInterior:
				if h.freeWide(p, head) {
					return
				}
			case kindRun:
				if (uintptr(p)-h.base)%universe.ChunkSize == 0 {
					h.freeRun(name, &block{p: p, s: s, head: head})
					return
				}
			}
		}
	}
	if a := h.overflowAt(p); a != nil {
		a.free(name, p)
		return
	}
	b := block{p: p}
	h.find(name, &b)
	h.freeBlock(name, &b)
}

// freeBlock is free for a block that was live when it was looked up.
func (h *Heap) freeBlock(name string, b *block) {
	h = b.h
	switch {
	case b.kind() == kindSpan:
		h.freeSpan(name, b)
	case b.s == nil:
		h.mappings.Free(name, b.p)
	case b.kind() == kindRun:
		h.freeRun(name, b)
	case b.kind() != kindSlots:
		if !h.freeWide(b.p, b.head) {
			b.panicFree(name) // another goroutine freed it just now
		}
	default:
		if debug.On {
			memory.Poison(b.p, b.usable, debug.Freed)
		}
		if !h.release(b.s, b.slot/64, 1<<(b.slot%64)) {
			b.panicFree(name)
		}
	}
}

// release clears bit m of word i of live, and notifies the owner or lists the slab when needed. It
// returns false when the bit was already clear.
func (h *Heap) release(s *slab, i int, m uint64) bool {
	for live := &s.live[i]; ; {
		w := live.Load()
		if w&m == 0 {
			return false
		}
		if live.CompareAndSwap(w, w&^m) {
			mutant.Pause()
			if state := s.state.Load(); state != stateHeld {
				h.released(s, state, i, w&^m)
			}
			return true
		}
	}
}

// released completes release for a slab that no shard holds; w is the new value of word i.
func (h *Heap) released(s *slab, state uint32, i int, w uint64) {
	switch state {
	case stateFull:
		if n := s.loose.Add(1); n >= classes[classIn(s.head.Load())].batch &&
			s.state.CompareAndSwap(stateFull, stateListing) {
			h.list(s)
		}
	case stateOwned:
		if s.state.CompareAndSwap(stateOwned, stateMailed) {
			s.key().Store(0)
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
		h.drop(s, false) // frees in the meantime left this to us
	}
}

// enlist lists a shared slab. mu is held.
func (h *Heap) enlist(s *slab) {
	number := classIn(s.head.Load())
	s.state.Store(stateListed)
	s.listed = true
	h.shard[s.home].lists[number].push(h.table, s)
	h.listed[number].Add(1)
}

// delist removes a slab from its list; the caller sets its state. mu is held.
func (h *Heap) delist(s *slab) {
	number := classIn(s.head.Load())
	s.listed = false
	h.shard[s.home].lists[number].remove(h.table, s)
	h.listed[number].Add(-1)
}

// drop frees the chunk of a listed slab when the slab is empty. Unless all is set, the last listed
// slab of a class is kept, against thrashing. mu is held.
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

// allocShared allocates a slot of a shared slab under the lock, and makes a slab with free slots
// current.
func (h *Heap) allocShared(number int) (unsafe.Pointer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.Closed.Load() {
		panicClosed("Heap.Alloc", true)
	}
	k := &classes[number]
	home := h.shards.Index()
	current := &h.shard[home].current[number]
	if s := current.Load(); s != nil {
		if slot, ok := h.claimOrLeave(s, k); ok {
			return h.slotPointer(s.chunk(), uintptr(slot)*uintptr(k.size), k), nil
		}
		current.Store(nil)
	}
	for {
		s, err := h.nextShared(number, home)
		if err != nil && h.listFull(number) {
			continue
		}
		if err != nil {
			return h.allocElsewhere(number, err)
		}
		s.home = uint8(home)
		s.state.Store(stateHeld)
		if slot, ok := h.claimOrLeave(s, k); ok {
			current.Store(s)
			return h.slotPointer(s.chunk(), uintptr(slot)*uintptr(k.size), k), nil
		}
	}
}

// claimOrLeave claims a slot of a held slab, or marks the slab full so that no shard holds it. mu
// is held.
func (h *Heap) claimOrLeave(s *slab, k *class) (slot int, ok bool) {
	for {
		if slot, ok, _ = s.claim(int(k.words)); ok {
			return slot, true
		}
		mutant.Pause()
		s.loose.Store(0)
		s.state.Store(stateFull)
		if mutant.Planted == mutant.BlindFull || !s.hasRoom(k) || !s.state.CompareAndSwap(stateFull, stateHeld) {
			return 0, false // the next free lists it
		}
	}
}

// nextShared returns a slab that is in no list: one that was listed, or a new one. mu is held.
func (h *Heap) nextShared(number, home int) (*slab, error) {
	if s := h.takeListed(number, home); s != nil {
		return s, nil
	}
	return h.newSlab(number, 0)
}

// takeListed takes a slab off the list of a shard, or if that is empty, of another; nil if all are.
// A slab stays with a shard while it can: else two goroutines soon have blocks in each slab, and
// each call of one writes to lines that the other wrote last. mu is held.
func (h *Heap) takeListed(number, home int) *slab {
	if h.listed[number].Load() == 0 {
		return nil
	}
	for i := range h.shard {
		if at := h.shard[(home+i)%len(h.shard)].lists[number].head; at != 0 {
			s := h.table.link(at)
			h.delist(s)
			return s
		}
	}
	return nil
}

// sharedPart sets how many slots of a full shared slab must be free before it is allocated from
// again: 1 of so many of its slots. With one slot alone, frees that are scattered over many slabs
// would list a slab at nearly each call, and the next Alloc would take it off again. Listing takes
// the heap's lock: with 8 for 4, larson on two cores took 1.8 times as long, less the loop, in two
// rounds of three, and .8 times in one that the machine ran at half speed. Recorded programs use as
// much memory.
const sharedPart = 4

// listFull lists all full slabs of a class that have a free slot after all, and reports whether
// there was one. mu is held.
func (h *Heap) listFull(number int) (some bool) {
	h.eachHead(func(_ universe.ChunkIndex, s *slab, head uint64) {
		if head&sharedMask == kindSlots|uint64(number)<<headClass && s.hasRoom(&classes[number]) &&
			s.state.CompareAndSwap(stateFull, stateListing) {
			h.enlist(s)
			some = true
		}
	})
	return some
}

// allocElsewhere claims a slot of another shard's slab when there is no memory for a new one. mu is
// held.
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

// reclaim drops the empty slabs and the chunks taken ahead that the heap and, unless nil, the
// calling Local keep for reuse. It reports whether there were any.
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
		for i := range h.shard {
			for at := h.shard[i].lists[number].head; at != 0; {
				s := h.table.link(at)
				at = s.next
				if s.isEmpty(k) && h.drop(s, true) {
					some = true
				}
			}
		}
	}
	some = h.reclaimWide() || some
	return h.supply.release() || some
}
