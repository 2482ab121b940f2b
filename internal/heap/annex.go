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

// Annexes: the universes that a heap makes beyond its own.
//
//	heap     | universe of NewHeap | --> list of annexes, by address
//	annex    | a heap, and a universe of 16 GiB that serves only it |   x n
//
// When the universe has no room, the heap makes an annex: a universe of its own and a heap on it.
// So a block of an annex has all that a block has, and 20 bits still name a chunk. An address leads
// to its annex by a binary search in the list, which is replaced as a whole and thus read without a
// lock. Annexes end with the heap.
//
// A full universe refuses only after reading all its masks. So after a refusal the heap asks
// annexes first, the one that had room last before the others, and its own universe only after
// restFor requests.

// restFor is for how many requests a heap whose universe was full goes to its annexes first: a
// refusal takes some 20 us, so they add 0.1 us to each.
const restFor = 256

// annexes is the state of a heap's annexes.
type annexes struct {
	size int                     // bytes of the universe of an annex; 0: the heap makes none
	all  atomic.Pointer[[]*Heap] // by base
	turn atomic.Pointer[Heap]    // the annex that had room last
	mu   sync.Mutex              // held while an annex is made
}

// Confined is Confined of package alloc.
func Confined() Option { return func(h *Heap) { h.annexes.size, h.confined = 0, true } }

// list returns the annexes by base.
func (a *annexes) list() []*Heap {
	if all := a.all.Load(); all != nil {
		return *all
	}
	return nil
}

// annexAt returns the annex whose universe p points into, or nil.
func (h *Heap) annexAt(p unsafe.Pointer) *Heap {
	all := h.annexes.list()
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

// allocAnnexed allocates a block in an annex, and makes one when none has room. full is the error
// of the heap's own universe, and is returned when there is to be no annex.
func (h *Heap) allocAnnexed(name string, size, align int, want universe.Wish,
	full error) (p unsafe.Pointer, err error) {
	// Half of an annex is enough for the block with any alignment that it honors.
	if h.annexes.size == 0 || size > h.annexes.size/2 || align > h.annexes.size/2 ||
		size <= MaxRunBytes && align > universe.MegachunkSize {
		return nil, full
	}
	turn := h.annexes.turn.Load()
	if turn != nil {
		if p, err = turn.allocHere(name, nil, size, align, want); err == nil {
			return p, nil
		}
	}
	known := h.annexes.list()
	if p, err = h.allocIn(known, turn, name, size, align, want); p != nil || err != nil {
		return p, err
	}
	h.annexes.mu.Lock()
	defer h.annexes.mu.Unlock()
	if now := h.annexes.list(); len(now) > len(known) { // another goroutine made one
		if p, err = h.allocIn(now, nil, name, size, align, want); p != nil || err != nil {
			return p, err
		}
	}
	a, err := h.newAnnex()
	if err != nil {
		return nil, fmt.Errorf("%w; and of a further universe: %w", full, err)
	}
	return a.allocHere(name, nil, size, align, want)
}

// allocIn allocates a block in one of the annexes given, but not in the one that was asked before.
// It returns nil without an error when all are full.
func (h *Heap) allocIn(all []*Heap, asked *Heap, name string, size, align int,
	want universe.Wish) (unsafe.Pointer, error) {
	for _, a := range all {
		if a == asked {
			continue
		}
		p, err := a.allocHere(name, nil, size, align, want)
		if err == nil {
			h.annexes.turn.Store(a)
			return p, nil
		}
		if !errors.Is(err, sentinel.ErrFull) {
			return nil, err
		}
	}
	return nil, nil
}

// newAnnex makes an annex with the settings of the heap and of its universe. annexes.mu is held.
func (h *Heap) newAnnex() (*Heap, error) {
	u, err := universe.New(h.u.Likeness(h.annexes.size)...)
	if err != nil {
		return nil, err
	}
	u.Spans.Most = int64(u.Index.Len()) // nothing else is there
	a := &Heap{}
	a.Open(u, SlabGrowth(h.supply.next))
	a.annexes.size = 0
	all := append(slices.Clone(h.annexes.list()), a)
	slices.SortFunc(all, func(a, b *Heap) int {
		if a.base < b.base {
			return -1
		}
		return 1
	})
	h.annexes.all.Store(&all)
	h.annexes.turn.Store(a)
	return a, nil
}

// trimAnnexes is Trim of all annexes and their universes, which only the heap knows.
func (h *Heap) trimAnnexes() (err error) {
	for _, a := range h.annexes.list() {
		_, e := a.u.Trim(0)
		err = errors.Join(err, a.Trim(), e)
	}
	return err
}

// closeAnnexes closes all annexes. Those whose universe the system refused to take back stay, for
// the next Close.
func (h *Heap) closeAnnexes() (err error) {
	h.annexes.turn.Store(nil)
	var left []*Heap
	for _, a := range h.annexes.list() {
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
	h.annexes.all.Store(&left)
	return err
}
