package alloc

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"quarry/alloc/internal/universe"
	"quarry/internal/debug"
)

// Local allocates from slabs of its own, without an atomic read-modify-write for small blocks. One
// goroutine at a time may use a Local; a handover must be synchronized. Blocks of a Local are
// blocks of the heap: any goroutine may free them through the heap or another Local, and a Local
// may free blocks of the heap and of other Locals. Blocks of a Local that others free are reused
// when the Local next needs a slab; an idle Local does not reuse them. A Local keeps blocks above 8
// KiB that it frees, up to 256 KiB, for its next blocks of the same size.
//
// Cost on an AMD Zen 5, Go 1.26, quiet: Alloc and Free of 64 B 5.2 ns for both; five
// recorded programs 6.3 ns a call (geometric mean), touching each block's first and
// last byte.
type Local struct {
	base    uintptr   // of the universe
	table   slabTable // the heap's; nil after Close
	key     uint64    // kind and owner in the head of its own slabs; matches no head after Close
	h       *Heap
	id      uint32
	closed  bool
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
	full    slabList       // own slabs with fewer than a batch of them
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

// NewLocal returns a Local of the heap. A Local that is not closed keeps its memory until the heap
// is closed.
func (h *Heap) NewLocal() *Local {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed.Load() {
		panicClosed("Heap.NewLocal", true)
	}
	l := &Local{base: h.base, table: h.table, h: h}
	for i := range l.classes {
		l.classes[i].size = uintptr(classes[i].size)
	}
	id := 0
	for id < len(h.locals) && h.locals[id] != nil {
		id++
	}
	if id == len(h.locals) {
		if id == ownerMask {
			// errors.md: `Locals are open` | `NewLocal` for more goroutines than there may be. |
			// `Local.Close` when a goroutine ends.
			panic(fmt.Sprintf("alloc: Heap.NewLocal: %d Locals are open", id))
		}
		h.locals = append(h.locals, nil)
	}
	h.locals[id] = l
	l.id = uint32(id) + 1
	l.key = kindSlots | uint64(l.id)<<headOwner
	return l
}

// Alloc is Heap.Alloc.
func (l *Local) Alloc(size, align int) (unsafe.Pointer, error) {
	if uint(size) <= maxSlot && uint(align) <= quantum && align&(align-1) == 0 {
		number := classOf[(uint(size)+quantum-1)/quantum] % classLimit
		c := &l.classes[number]
		if p := c.next; p != nil {
			w := *c.word | c.bit
			store(c.word, w)
			c.aim(w)
			if debug.On {
				poison(p, int(c.size), debug.Fresh)
			}
			return p, nil
		}
		return l.allocNext(int(number), size)
	}
	return l.allocLarge(size, align)
}

// Free is Heap.Free.
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
					poison(p, int(classes[classIn(head)].size), debug.Freed)
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
	if l.closed && p != nil {
		panicClosed(name, l.h.closed.Load())
	}
	l.h.free(name, p)
}

// AllocZeroed is Heap.AllocZeroed.
func (l *Local) AllocZeroed(size, align int) (unsafe.Pointer, error) {
	if uint(size) <= maxSlot && uint(align) <= quantum && align&(align-1) == 0 && !l.closed {
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

// Realloc is Heap.Realloc.
func (l *Local) Realloc(p unsafe.Pointer, size, align int) (unsafe.Pointer, error) {
	return l.h.realloc("Local.Realloc", l, p, size, align)
}

// Resize is Heap.Resize.
func (l *Local) Resize(p unsafe.Pointer, size int) bool {
	return l.h.resizeNamed("Local.Resize", l, p, size)
}

// FreeSized is Heap.FreeSized.
func (l *Local) FreeSized(p unsafe.Pointer, size, align int) {
	if p != nil {
		b := block{p: p}
		l.h.find("Local.FreeSized", &b)
		l.h.checkSized("Local.FreeSized", &b, size, align)
		l.Free(p)
	}
}

// Usable is Heap.Usable.
func (l *Local) Usable(p unsafe.Pointer) int {
	b := block{p: p}
	l.h.find("Local.Usable", &b)
	return b.usable
}

// Trim frees the empty slabs and the freed blocks that l keeps for reuse, and gives pages between
// blocks in use back to the system. What the system refuses to take back stays.
func (l *Local) Trim() {
	if l.closed {
		panicClosed("Local.Trim", l.h.closed.Load())
	}
	l.reclaim()
	l.discardPages()
}

// Heap returns the heap that l belongs to.
func (l *Local) Heap() *Heap { return l.h }

// Close gives the slabs of l to the heap. Its blocks stay live and can be freed through the heap or
// another Local. A second call does nothing.
func (l *Local) Close() {
	if l.closed {
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
	l.table, l.key, l.closed = nil, ^uint64(0), true
}
