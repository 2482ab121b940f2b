package heap

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"quarry/internal/debug"
	"quarry/internal/universe"
	"quarry/internal/universe/memory"
)

// Local is Local of package alloc.
type Local struct {
	base    uintptr   // of the universe
	table   slabTable // the heap's; nil after Close
	key     uint64    // kind and owner in the head of its own slabs; matches no head after Close
	h       *Heap
	id      uint32
	Closed  bool
	classes [classLimit]localClass // 56 bytes in, after the 8 of malloc's header: on their own cache lines
	mail    atomic.Bool            // the inbox is not empty
	inbox   uint32                 // slabs in which others freed blocks, linked by mail; under the heap's lock
	held    int                    // chunks of the blocks kept in cached and wide
	cached  [keptChunks]uint32     // by length - 1: free runs kept for reuse, linked by next; see localrun.go
	wide    [len(wideClasses)]wideStack
}

// localClass is a Local's state for one class, in one cache line. next is the slot that the next
// Alloc returns, computed by the call before. So the address does not wait for the mask, and
// repeated Alloc and Free of one block form no dependency chain.
type localClass struct {
	next    unsafe.Pointer // nil: the word is full, or there is no slab
	bit     uint64         // bit of next in the word
	word    *uint64        // word of own of the current slab
	at      unsafe.Pointer // slot of the word's lowest bit
	size    uintptr        // bytes of a slot
	current *slab
	chunk   unsafe.Pointer // start of the current slab
	partial slabList       // own slabs with free slots, newest first
	full    slabList       // own slabs with fewer free slots than 1/batchPart
}

// aim sets next to the lowest free slot of the word, whose value is w.
func (c *localClass) aim(w uint64) {
	if w == ^uint64(0) {
		c.next = nil
		return
	}
	c.bit = ^w & (w + 1)
	// Safe because the bit stands for a slot of the current slab.
	c.next = unsafe.Add(c.at, uintptr(bits.TrailingZeros64(^w))*c.size)
}

const localMask = uint64(kindMask) | ownerMask<<headOwner

// OpenLocal makes the zero value of l a Local of the heap, as Heap.NewLocal of package alloc does.
func (h *Heap) OpenLocal(l *Local) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.Closed.Load() {
		panicClosed("Heap.NewLocal", true)
	}
	l.base, l.table, l.h = h.base, h.table, h
	for i := range l.classes {
		l.classes[i].size = uintptr(classes[i].size)
	}
	id := 0
	for id < len(h.locals) && h.locals[id] != nil {
		id++
	}
	if id == len(h.locals) {
		if id == ownerMask {
			panic(fmt.Sprintf("alloc: Heap.NewLocal: %d Locals are open", id))
		}
		h.locals = append(h.locals, nil)
	}
	h.locals[id] = l
	l.id = uint32(id) + 1
	l.key = kindSlots | uint64(l.id)<<headOwner
}

// Alloc is Local.Alloc of package alloc.
func (l *Local) Alloc(size, align int) (unsafe.Pointer, error) {
	if uint(size) <= maxSlot && uint(align) <= memory.Quantum && align&(align-1) == 0 {
		number := classOf[(uint(size)+memory.Quantum-1)/memory.Quantum] % classLimit
		c := &l.classes[number]
		if p := c.next; p != nil {
			w := *c.word | c.bit
			store(c.word, w)
			c.aim(w)
			if debug.On {
				memory.Poison(p, int(c.size), debug.Fresh)
			}
			return p, nil
		}
		return l.allocNext(int(number), size)
	}
	return l.allocLarge(size, align)
}

// Free is Local.Free of package alloc.
func (l *Local) Free(p unsafe.Pointer) {
	offset := uintptr(p) - l.base
	if m := offset / universe.MegachunkSize; m < uintptr(len(l.table)) {
		if page := l.table[m].Load(); page != nil {
			s := &page.slabs[offset/universe.ChunkSize%universe.ChunksPerMegachunk]
			head := s.head.Load()
			if head&localMask == l.key {
				shape, in := s.shape.Load(), uint32(offset%universe.ChunkSize)
				slot, begins := scaled(in, shape)
				if !begins || in >= uint32(shape>>32) {
					goto other
				}
				m := uint64(1) << (slot % 64)
				w := &s.words[slot/64%slotWords]
				own := w.own
				if own&w.live.Load()&m == 0 {
					goto other
				}
				if debug.On {
					memory.Poison(p, int(classes[classIn(head)].size), debug.Freed)
				}
				own &^= m
				store(&w.own, own)
				// No slot of the word is in use when its ones are all at the top, if it has any.
				if s.place != placeCurrent && (s.place == placeFull || own+own&-own == 0) {
					l.freed(s, head, int(slot/64), 1)
				}
				return
			}
			if head&kindMask >= kindRun && l.keep(p, s, head) {
				return
			}
		}
	}
other:
	l.freeOther("Local.Free", p)
}

// freeOther frees a block that is not a slot of l.
//
//go:noinline
func (l *Local) freeOther(name string, p unsafe.Pointer) {
	if l.Closed && p != nil {
		panicClosed(name, l.h.Closed.Load())
	}
	l.h.free(name, p)
}

// AllocZeroed is Local.AllocZeroed of package alloc.
func (l *Local) AllocZeroed(size, align int) (unsafe.Pointer, error) {
	if uint(size) <= maxSlot && uint(align) <= memory.Quantum && align&(align-1) == 0 && !l.Closed {
		p, err := l.Alloc(size, align)
		if err != nil {
			return nil, renamed("Local.AllocZeroed", size, err)
		}
		// Safe because the block has at least size bytes.
		clear(unsafe.Slice((*byte)(p), size))
		return p, nil
	}
	return l.h.alloc("Local.AllocZeroed", l, size, align, universe.ZeroedRun)
}

// Realloc is Local.Realloc of package alloc.
func (l *Local) Realloc(p unsafe.Pointer, size, align int) (unsafe.Pointer, error) {
	return l.h.realloc("Local.Realloc", l, p, size, align)
}

// Resize is Local.Resize of package alloc.
func (l *Local) Resize(p unsafe.Pointer, size int) bool {
	return l.h.resizeNamed("Local.Resize", l, p, size)
}

// FreeSized is Local.FreeSized of package alloc.
func (l *Local) FreeSized(p unsafe.Pointer, size, align int) {
	if p != nil {
		b := block{p: p}
		l.h.find("Local.FreeSized", &b)
		l.h.checkSized("Local.FreeSized", &b, size, align)
		l.Free(p)
	}
}

// Usable is Local.Usable of package alloc.
func (l *Local) Usable(p unsafe.Pointer) int {
	b := block{p: p}
	l.h.find("Local.Usable", &b)
	return b.usable
}

// Trim is Local.Trim of package alloc.
func (l *Local) Trim() {
	if l.Closed {
		panicClosed("Local.Trim", l.h.Closed.Load())
	}
	l.reclaim()
	l.discardPages()
}

// Close is Local.Close of package alloc.
func (l *Local) Close() {
	if l.Closed {
		return
	}
	h := l.h
	l.dropKept()
	h.mu.Lock()
	bad := l.foldAll()
	for number := range classCount {
		c := &l.classes[number]
		if s := c.current; s != nil {
			h.share(s, number)
		}
		for _, list := range []*slabList{&c.partial, &c.full} {
			for list.head != 0 {
				s := h.table.link(list.head)
				list.remove(h.table, s)
				h.share(s, number)
			}
		}
	}
	h.locals[l.id-1] = nil
	l.disable()
	h.mu.Unlock()
	bad.report("Local.Close")
}

// disable makes every later call on l panic.
func (l *Local) disable() {
	for i := range l.classes {
		l.classes[i] = localClass{}
	}
	l.cached, l.wide, l.held = [keptChunks]uint32{}, [len(wideClasses)]wideStack{}, 0
	l.table, l.key, l.Closed = nil, ^uint64(0), true
}
