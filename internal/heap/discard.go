package heap

import (
	"errors"
	"fmt"
	"math/bits"

	"quarry/internal/debug"
	"quarry/internal/universe"
	"quarry/mmap"
)

// Giving back pages inside slabs. A slab with one block in use keeps its chunk, but pages of 4 KiB
// on which no slot is in use need no memory:
//
//	slab of 1,024 B   |used|free|free|free| free x 4 | free x 4 |free|used|free|free|     16 slots
//	page                     stays          goes       goes           stays
//
// Heap.Trim gives them back. It claims the free slots of such pages first, as an allocation would,
// and frees them afterwards, so nobody writes there meanwhile. A slot whose page went is allocated
// like any other; its first touch finds a page of zeros. The chunk stays dirty and charged.
//
// Heap.Trim visits only slabs in the list of their class: the current ones of shards are being
// allocated from, and those of a Local are its own. Local.Trim gives back the pages of these;
// nobody else allocates there, so nothing needs to be claimed. Debug builds give nothing back,
// since free slots hold a pattern there.

// discardPages gives back the pages without a slot in use. No lock is held for longer than a slab
// takes.
func (h *Heap) discardPages() (err error) {
	if debug.On || mmap.PageSize() >= universe.ChunkSize {
		return nil
	}
	for m := range h.table {
		page := h.table[m].Load()
		if page == nil {
			continue
		}
		for i := range page.slabs {
			s := &page.slabs[i]
			switch s.head.Load() & kindMask {
			case kindSlots:
				if s.state.Load() == stateListed {
					err = errors.Join(err, h.discardSlots(s))
				}
			case kindWide:
				err = errors.Join(err, h.discardWide(s))
			}
		}
	}
	return err
}

// discardSlots gives back the free pages of a listed slab.
func (h *Heap) discardSlots(s *slab) (err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	head := s.head.Load()
	if head&kindMask != kindSlots || s.state.Load() != stateListed || !s.listed {
		return nil // it was taken meanwhile
	}
	k := &classes[classIn(head)]
	for off := 0; off < universe.ChunkSize; {
		n := 0
		for off+n < universe.ChunkSize && s.isFree(k, off+n, mmap.PageSize()) {
			n += mmap.PageSize()
		}
		if n > 0 && s.claimSlots(k, off, n) {
			err = errors.Join(err, h.u.DiscardPart(firstIn(head), off, n))
			s.freeSlots(k, off, n)
		}
		off += n + mmap.PageSize()
	}
	h.drop(s, false) // the last block may have been freed meanwhile
	return err
}

// slotsOf returns the slots that lie at least in part on the n bytes from off on.
func (k *class) slotsOf(off, n int) (lo, hi int) {
	return off / int(k.size), min((off+n+int(k.size)-1)/int(k.size), int(k.slots))
}

// inWord returns the bits of slots [lo, hi) in word i.
func inWord(i, lo, hi int) uint64 {
	lo, hi = max(lo-i*64, 0), min(hi-i*64, 64)
	if lo >= hi {
		return 0
	}
	return ^uint64(0) << lo & (^uint64(0) >> (64 - hi))
}

// isFree reports whether no slot on the n bytes from off on is in use.
func (s *slab) isFree(k *class, off, n int) bool {
	lo, hi := k.slotsOf(off, n)
	for i := lo / 64; i*64 < hi; i++ {
		if s.live[i].Load()&inWord(i, lo, hi) != 0 {
			return false
		}
	}
	return true
}

// claimSlots claims all slots on the n bytes from off on, or none.
func (s *slab) claimSlots(k *class, off, n int) bool {
	lo, hi := k.slotsOf(off, n)
	for i := lo / 64; i*64 < hi; i++ {
		for mask := inWord(i, lo, hi); ; {
			w := s.live[i].Load()
			if w&mask != 0 {
				s.freeWords(lo, hi, i)
				return false
			}
			if s.live[i].CompareAndSwap(w, w|mask) {
				break
			}
		}
	}
	return true
}

// freeSlots frees what claimSlots claimed.
func (s *slab) freeSlots(k *class, off, n int) {
	lo, hi := k.slotsOf(off, n)
	s.freeWords(lo, hi, (hi+63)/64)
}

// freeWords frees the claimed slots of [lo, hi) in the words before end. It panics for a slot that
// somebody else freed, who cannot have had it.
func (s *slab) freeWords(lo, hi, end int) {
	for i := lo / 64; i < end; i++ {
		mask := inWord(i, lo, hi)
		if twice := mask &^ s.live[i].And(^mask); twice != 0 {
			panic(fmt.Sprintf("alloc: Heap.Trim: slot %d of chunk %d was freed by another goroutine while it was free",
				i*64+bits.TrailingZeros64(twice), s.chunk()))
		}
	}
}

// discardPages gives back the pages of l's slabs on which l counts no slot as in use.
func (l *Local) discardPages() {
	if debug.On || mmap.PageSize() >= universe.ChunkSize {
		return
	}
	for number := range classCount {
		c, k := &l.classes[number], &classes[number]
		if c.current != nil {
			l.discardSlots(c.current, k)
		}
		for _, list := range []slabList{c.partial, c.full} {
			for at := list.head; at != 0; at = l.table.link(at).next {
				l.discardSlots(l.table.link(at), k)
			}
		}
	}
}

// discardSlots gives back the free pages of a slab of l. What the system refuses stays.
func (l *Local) discardSlots(s *slab, k *class) {
	for off := 0; off < universe.ChunkSize; {
		n := 0
		for off+n < universe.ChunkSize && !s.ownsOn(k, off+n, mmap.PageSize()) {
			n += mmap.PageSize()
		}
		if n > 0 && l.h.u.DiscardPart(s.chunk(), off, n) != nil {
			return
		}
		off += n + mmap.PageSize()
	}
}

// ownsOn reports whether the owner counts a slot on the n bytes from off on as in use.
func (s *slab) ownsOn(k *class, off, n int) bool {
	lo, hi := k.slotsOf(off, n)
	for slot := lo; slot < hi; slot++ {
		if at, m := k.start(slot); s.own()[at]&m != 0 {
			return true
		}
	}
	return false
}

// discardWide gives back the free pages of a wide slab.
func (h *Heap) discardWide(s *slab) (err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	head := s.head.Load()
	if head&kindMask != kindWide {
		return nil
	}
	k, used := &wideClasses[classIn(head)], s.own()[0]
	page := mmap.PageSize()
	for slot := 0; slot < k.slots; slot++ {
		first := slot
		for slot < k.slots && used>>slot&1 == 0 {
			slot++
		}
		lo, hi := (first*k.size+page-1)/page*page, slot*k.size/page*page
		if slot == k.slots {
			hi = k.chunks * universe.ChunkSize
		}
		if slot > first && lo < hi {
			err = errors.Join(err, h.u.DiscardPart(firstIn(head), lo, hi-lo))
		}
	}
	return err
}
