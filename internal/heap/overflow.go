package heap

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"quarry/internal/universe"
	"quarry/internal/universe/sentinel"
)

// Overflow heaps: what a heap has beyond its universe.
//
//	heap     | universe of NewHeap | --> list of overflow heaps, by address
//	overflow | a heap, and a universe of 16 GiB that serves only it |   x n
//
// When the universe has no room, the heap makes an overflow heap: a universe of its own and a heap
// on it. So a block of an overflow heap has all that a block has, and 20 bits still name a chunk.
// An address leads to its overflow heap by a binary search in the list, which is replaced as a
// whole and thus read without a lock. Overflow heaps end with the heap.
//
// A full universe refuses only after reading all its masks. So after a refusal the heap tries
// overflow heaps first, the one that had room last before the others, and its own universe only
// after restFor requests.

// restFor is for how many requests a heap whose universe was full goes to its overflow heaps first:
// a refusal takes some 20 us, so they add 0.1 us to each.
const restFor = 256

// overflows is what a heap knows of its overflow heaps.
type overflows struct {
	size int                     // bytes of the universe of an overflow heap; 0: the heap makes none
	all  atomic.Pointer[[]*Heap] // by base
	turn atomic.Pointer[Heap]    // the overflow heap that had room last
	mu   sync.Mutex              // held while an overflow heap is made
}

// Confined is Confined of package alloc.
func Confined() Option { return func(h *Heap) { h.overflows.size, h.confined = 0, true } }

// list returns the overflow heaps by base.
func (a *overflows) list() []*Heap {
	if all := a.all.Load(); all != nil {
		return *all
	}
	return nil
}

// overflowAt returns the overflow heap whose universe p points into, or nil.
func (h *Heap) overflowAt(p unsafe.Pointer) *Heap {
	all := h.overflows.list()
	lo, hi := 0, len(all)
	for lo < hi { // the last whose base is not above p
		mid := (lo + hi) / 2
		if all[mid].base <= uintptr(p) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return nil
	}
	if a := all[lo-1]; uintptr(p)-a.base < uintptr(a.u.Size()) {
		return a
	}
	return nil
}

// allocOverflow allocates a block in an overflow heap, and makes one when none has room. full is
// the error of the heap's own universe, and is returned when there is to be no overflow heap.
func (h *Heap) allocOverflow(name string, size, align int, want universe.Flags, full error) (p unsafe.Pointer,
	err error) {
	// Half of an overflow heap is enough for the block with any alignment that it honors.
	if h.overflows.size == 0 || size > h.overflows.size/2 || align > h.overflows.size/2 || size <= MaxRunBytes &&
		align > universe.MegachunkSize {
		return nil, full
	}
	turn := h.overflows.turn.Load()
	if turn != nil {
		if p, err = turn.allocHere(name, nil, size, align, want); err == nil {
			return p, nil
		}
	}
	known := h.overflows.list()
	if p, err = h.allocIn(known, turn, name, size, align, want); p != nil || err != nil {
		return p, err
	}
	h.overflows.mu.Lock()
	defer h.overflows.mu.Unlock()
	if now := h.overflows.list(); len(now) > len(known) { // another goroutine made one
		if p, err = h.allocIn(now, nil, name, size, align, want); p != nil || err != nil {
			return p, err
		}
	}
	a, err := h.newOverflow()
	if err != nil {
		return nil, fmt.Errorf("%w; and of a further universe: %w", full, err)
	}
	return a.allocHere(name, nil, size, align, want)
}

// allocIn allocates a block in one of the overflow heaps given, but not in the one that was tried
// before. It returns nil without an error when all are full.
func (h *Heap) allocIn(all []*Heap, asked *Heap, name string, size, align int, want universe.Flags) (unsafe.Pointer,
	error) {
	for _, a := range all {
		if a == asked {
			continue
		}
		p, err := a.allocHere(name, nil, size, align, want)
		if err == nil {
			h.overflows.turn.Store(a)
			return p, nil
		}
		if !errors.Is(err, sentinel.ErrFull) {
			return nil, err
		}
	}
	return nil, nil
}

// newOverflow makes an overflow heap with the settings of the heap and of its universe.
// overflows.mu is held.
func (h *Heap) newOverflow() (*Heap, error) {
	u, err := universe.New(h.u.Likeness(h.overflows.size)...)
	if err != nil {
		return nil, err
	}
	u.Spans.Most = int64(u.Index.Len()) // nothing else is there
	a := &Heap{}
	a.Open(u, SlabGrowth(h.supply.next))
	a.overflows.size = 0
	all := append(slices.Clone(h.overflows.list()), a)
	slices.SortFunc(all, func(a, b *Heap) int {
		if a.base < b.base {
			return -1
		}
		return 1
	})
	h.overflows.all.Store(&all)
	h.overflows.turn.Store(a)
	return a, nil
}

// trimOverflows is Trim of all overflow heaps and their universes, which only the heap knows.
func (h *Heap) trimOverflows() (err error) {
	for _, a := range h.overflows.list() {
		_, e := a.u.Trim(0)
		err = errors.Join(err, a.Trim(), e)
	}
	return err
}

// closeOverflows closes all overflow heaps. Those whose universe the system refused to take back
// stay, for the next Close.
func (h *Heap) closeOverflows() (err error) {
	h.overflows.turn.Store(nil)
	var left []*Heap
	for _, a := range h.overflows.list() {
		e := a.Close()
		if errors.Is(e, sentinel.ErrLeak) {
			e = nil // the heap has counted them
		}
		if e == nil {
			e = a.u.Close()
		}
		if e != nil {
			left = append(left, a)
		}
		err = errors.Join(err, e)
	}
	h.overflows.all.Store(&left)
	return err
}
