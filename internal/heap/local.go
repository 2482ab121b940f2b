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
	start   unsafe.Pointer // base as a pointer
	classes [classLimit]localClass
	mail    atomic.Bool        // the inbox is not empty
	inbox   uint32             // slabs in which others freed blocks, linked by mail; under the heap's lock
	held    int                // chunks of the blocks kept in cached and wide
	cached  [keptChunks]uint32 // by length - 1: free runs kept for reuse, linked by next; see localrun.go
	wide    [len(wideClasses)]wideStack
}

const localMask = uint64(kindMask) | ownerMask<<headOwner

// OpenLocal makes the zero value of l a Local of the heap, as Heap.NewLocal of package alloc does.
func (h *Heap) OpenLocal(l *Local) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.Closed.Load() {
		panicClosed("Heap.NewLocal", true)
	}
	l.base, l.table, l.h, l.start = h.base, h.table, h, h.u.Pointer(0)
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
		var q uint32
		if i := c.n - 1; i < recentSlots {
			q, c.n = c.recent[i], i
		} else if c.rest != 0 {
			q = c.next()
		} else {
			return l.allocNext(int(number), size)
		}
		w := &l.table[q/quantaPerPage].Load().own[q%quantaPerPage/64]
		store(w, *w|1<<(q%64))
		// Safe because the offset is that of a slot of one of the heap's chunks.
		p := unsafe.Add(l.start, uintptr(q)*memory.Quantum)
		if debug.On {
			poisonFresh(p, int(number))
		}
		return p, nil
	}
	return l.allocLarge(size, align)
}

// Free is Local.Free of package alloc.
func (l *Local) Free(p unsafe.Pointer) {
	// The offset in quanta, which is too large for the table when p is not a multiple of a quantum.
	q := uintptr(bits.RotateLeft64(uint64(uintptr(p)-l.base), -4))
	if m := q / quantaPerPage; m < uintptr(len(l.table)) {
		if page := l.table[m].Load(); page != nil {
			key := page.keys[q/quantaPerChunk%universe.ChunksPerMegachunk].Load()
			if w, bit := &page.own[q%quantaPerPage/64], uint64(1)<<(q%64); key>>keyOwner == l.id && *w&bit != 0 {
				number := key >> keyClass % classLimit
				if debug.On {
					memory.Poison(p, int(classes[number].size), debug.Freed)
				}
				own := *w &^ bit
				store(w, own)
				if c := &l.classes[number]; own != 0 || key&keyCurrent != 0 {
					if key&keyPartial != 0 {
						return
					}
					if c.n < recentSlots {
						c.recent[c.n] = uint32(q)
						c.n++
						return
					}
					if key&keyFull == 0 {
						return
					}
				}
				l.freed(uint32(q), int(number))
				return
			}
			l.freeOwned(p, page)
			return
		}
	}
	l.freeOther("Local.Free", p)
}

// freeOwned is Free of a pointer to no slot of l, or to one in a slab that others may have freed
// slots of.
//
//go:noinline
func (l *Local) freeOwned(p unsafe.Pointer, page *slabPage) {
	offset := uintptr(p) - l.base
	s := &page.slabs[offset/universe.ChunkSize%universe.ChunksPerMegachunk]
	head := s.head.Load()
	if head&localMask == l.key {
		in := uint32(offset % universe.ChunkSize)
		slot, begins := scaled(in, s.shape.Load())
		w, bit := &s.own()[in/(64*memory.Quantum)], uint64(1)<<(in/memory.Quantum%64)
		if begins && *w&bit != 0 && s.live[slot/64%slotWords].Load()>>(slot%64)&1 != 0 {
			if debug.On {
				memory.Poison(p, int(classes[classIn(head)].size), debug.Freed)
			}
			store(w, *w&^bit)
			l.freed(uint32(offset/memory.Quantum), classIn(head))
			return
		}
	} else if head&kindMask >= kindRun && l.keep(p, s, head) {
		return
	}
	l.freeOther("Local.Free", p)
}

// freeOther frees a block that is not a slot of l.
//
//go:noinline
func (l *Local) freeOther(name string, p unsafe.Pointer) {
	if l.Closed && p != nil {
		panicClosed(name, l.h.Closed.Load())
	}
	if !l.h.freeSlot(p) {
		l.h.free(name, p)
	}
}

// AllocZeroed is Local.AllocZeroed of package alloc.
func (l *Local) AllocZeroed(size, align int) (unsafe.Pointer, error) {
	if uint(size) <= maxSlot && uint(align) <= memory.Quantum && align&(align-1) == 0 && l.h != nil && !l.Closed {
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
	if uint(size) <= maxSlot && uint(align) <= memory.Quantum && align&(align-1) == 0 {
		// A live slot of l, of the class that such a request gets: nothing is left to check.
		q := uintptr(bits.RotateLeft64(uint64(uintptr(p)-l.base), -4)) // as in Free
		if m := q / quantaPerPage; m < uintptr(len(l.table)) {
			if page := l.table[m].Load(); page != nil {
				key := page.keys[q/quantaPerChunk%universe.ChunksPerMegachunk].Load()
				if key>>keyOwner == l.id && page.own[q%quantaPerPage/64]>>(q%64)&1 != 0 &&
					key>>keyClass%classLimit == uint32(classOf[(uint(size)+memory.Quantum-1)/memory.Quantum]) {
					l.Free(p)
					return
				}
			}
		}
	}
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
