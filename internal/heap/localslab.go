package heap

import (
	"fmt"
	"unsafe"

	"quarry/internal/debug"
	"quarry/internal/universe"
	"quarry/internal/universe/memory"
	"quarry/internal/universe/mutant"
)

// The slabs of a Local: where it gets them, how it learns of frees by others, and how they become
// shared slabs.

// allocNext is Alloc for a class whose current word is full.
//
//go:noinline
func (l *Local) allocNext(number, size int) (unsafe.Pointer, error) {
	if !l.Closed {
		if p, err := l.allocSlot(number); err == nil {
			return p, nil
		}
	}
	return l.h.alloc("Local.Alloc", l, size, 0, universe.AnyRun)
}

// allocSlot allocates a slot, from another word or another slab if necessary.
func (l *Local) allocSlot(number int) (unsafe.Pointer, error) {
	c := &l.classes[number]
	for c.next == nil && !c.advance(number) {
		if err := l.refill(c, number); err != nil {
			return nil, err
		}
	}
	p := c.next
	store(c.word, *c.word|c.bit)
	c.aim(*c.word)
	if debug.On {
		memory.Poison(p, int(c.size), debug.Fresh)
	}
	return p, nil
}

// advance moves to the next word of the current slab that has a clear bit, and reports whether
// there is one. It goes on from the word that it moved to before, so that words which stay full are
// not read for each word that does not.
func (c *localClass) advance(number int) bool {
	s := c.current
	if s == nil {
		return false
	}
	n := int(classes[number].words)
	// Safe because word is a word of s, in the layout of slab.
	i := int(uintptr(unsafe.Pointer(c.word))-uintptr(unsafe.Pointer(&s.words[0].own))) / int(unsafe.Sizeof(slabWord{}))
	for range n {
		if i++; i >= n {
			i = 0
		}
		if w := s.words[i%slotWords].own; w != ^uint64(0) {
			// Safe because word i has a slot, whose offset is below the chunk's size.
			c.at = unsafe.Add(c.chunk, uintptr(i)*64*c.size)
			c.word = &s.words[i%slotWords].own
			c.aim(w)
			return true
		}
	}
	return false
}

// refill makes another slab current: a slab of l with a free slot, after folding the inbox; else a
// slab adopted from the heap; else a new one.
func (l *Local) refill(c *localClass, number int) error {
	if s := c.current; s != nil {
		c.current, c.next = nil, nil
		s.place, s.freed = placeFull, 0
		c.full.push(l.table, s)
	}
	if c.partial.head == 0 && l.mail.Load() {
		l.fold()
	}
	if c.partial.head != 0 {
		s := l.table.link(c.partial.head)
		c.partial.remove(l.table, s)
		l.use(c, s)
		return nil
	}
	if l.h.listed[number].Load() > 0 {
		if s := l.h.adopt(l, number); s != nil {
			l.use(c, s)
			return nil
		}
	}
	s, err := l.h.newSlab(number, l.id)
	if err != nil {
		if !l.listFull(c) {
			return err
		}
		return l.refill(c, number)
	}
	// The head was stored first. A free delayed since an earlier life of the slab may mail the slab
	// as soon as it is owned, and then reads the owner.
	s.state.Store(stateOwned)
	l.use(c, s)
	return nil
}

// use makes s current.
func (l *Local) use(c *localClass, s *slab) {
	s.place = placeCurrent
	c.current, c.chunk, c.next = s, l.h.u.Pointer(s.chunk()), nil
	c.word = &s.words[slotWords-1].own // advance begins with the first word
}

// batchPart sets how many slots of a full slab must be free before it is allocated from again: 1 of
// so many of its slots, or 1 slot. With one slot alone, frees that are scattered over many slabs
// move a slab between the lists at nearly each call.
const batchPart = 32

// freed completes Free of n slots, one of them in word i, of a slab that is not current: the slab
// has free slots again, and may be empty.
func (l *Local) freed(s *slab, head uint64, i, n int) {
	number := classIn(head)
	c := &l.classes[number]
	if s.place == placeFull {
		if s.freed += uint32(n); int(s.freed) < int(classes[number].slots)/batchPart {
			return
		}
		l.list(c, s)
	}
	if s.words[i].own == classes[number].beyond(i) {
		l.dropEmpty(c, s, number, false)
	}
}

// list moves a slab from the full ones to those with free slots.
func (l *Local) list(c *localClass, s *slab) {
	c.full.remove(l.table, s)
	s.place = placePartial
	c.partial.push(l.table, s)
}

// listFull lists all full slabs that have a free slot after all, and reports whether there was one.
func (l *Local) listFull(c *localClass) (some bool) {
	for at := c.full.head; at != 0; {
		s := l.table.link(at)
		at = s.next
		if s.freed > 0 {
			l.list(c, s)
			some = true
		}
	}
	return some
}

// dropEmpty frees the chunk of a partial slab when the slab is empty and has no pending mail.
// Unless all is set, the last slab of a class is kept, against thrashing.
func (l *Local) dropEmpty(c *localClass, s *slab, number int, all bool) bool {
	k := &classes[number]
	if !s.ownsNothing(k) || !all && c.partial.head == uint32(s.chunk())+1 && s.next == 0 {
		return false
	}
	// A free of a block that is not live may have cleared a bit and not mailed the slab yet. Such a
	// slab stays, so that fold finds the double free.
	if s.hasRoom(k) || !s.state.CompareAndSwap(stateOwned, stateNone) {
		return false
	}
	c.partial.remove(l.table, s)
	chunk := s.chunk()
	s.head.Store(0)
	l.h.supply.give(chunk)
	return true
}

// reclaim frees the kept blocks, drops all empty slabs and reports whether there were any.
func (l *Local) reclaim() bool {
	if l.mail.Load() {
		l.fold()
	}
	some := l.dropKept()
	for number := range classCount {
		c := &l.classes[number]
		if s := c.current; s != nil && s.ownsNothing(&classes[number]) {
			c.current, c.next = nil, nil
			s.place = placePartial
			c.partial.push(l.table, s)
		}
		for at := c.partial.head; at != 0; {
			s := l.table.link(at)
			at = s.next
			if l.dropEmpty(c, s, number, true) {
				some = true
			}
		}
	}
	return some
}

// twice is a slot that another goroutine freed while it was not in use.
type twice struct {
	head uint64
	slot int
}

// report panics when there is such a slot.
func (t twice) report(name string) {
	if t.head == 0 {
		return
	}
	panic(fmt.Sprintf("alloc: %s: slot %d of chunk %d, of %d bytes, was freed by another goroutine while it was free",
		name, t.slot, firstIn(t.head), classes[classIn(t.head)].size))
}

// fold takes over the frees of other goroutines.
func (l *Local) fold() {
	l.h.mu.Lock()
	bad := l.foldAll()
	l.h.mu.Unlock()
	bad.report("Local.Alloc")
}

// foldAll empties the inbox. The heap's lock is held.
func (l *Local) foldAll() (bad twice) {
	l.mail.Store(false)
	for l.inbox != 0 {
		s := l.table.link(l.inbox)
		l.inbox, s.mail, s.queued = s.mail, 0, false
		head := s.head.Load()
		s.state.Store(stateOwned) // first: from now on a free mails the slab again
		n, slot := s.fold(&classes[classIn(head)])
		if slot >= 0 {
			bad = twice{head: head, slot: slot}
		}
		if s.place != placeCurrent && n > 0 {
			l.freed(s, head, 0, n)
		}
	}
	return bad
}

// post adds a slab that the caller has set to stateMailed to its owner's inbox.
func (h *Heap) post(s *slab) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.queued || s.state.Load() != stateMailed {
		return // its owner has closed and shared the slab with the bit clear
	}
	l := h.locals[ownerIn(s.head.Load())-1]
	s.queued, s.mail = true, l.inbox
	l.inbox = uint32(s.chunk()) + 1
	l.mail.Store(true)
}

// share turns a slab of a closing Local into a shared slab. The slab is in none of the Local's
// lists. mu is held.
func (h *Heap) share(s *slab, number int) {
	k := &classes[number]
	// The state is stored first: a free that sees the old state cleared its bit before, so hasRoom
	// finds that bit.
	s.state.Store(stateFull)
	s.low.Store(0)
	s.head.Store(headOf(kindSlots, number, 1, s.chunk(), 0))
	for i := range int(k.words) {
		s.words[i].live.And(s.words[i].own)
	}
	if mutant.Planted != mutant.BlindShare && s.hasRoom(k) && s.state.CompareAndSwap(stateFull, stateListed) {
		h.enlist(s)
		h.drop(s, false)
	}
}

// adopt transfers a listed slab to l, or returns nil when there is none.
func (h *Heap) adopt(l *Local, number int) *slab {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.lists[number].head
	if at == 0 {
		return nil
	}
	s := h.table.link(at)
	h.delist(s)
	k := &classes[number]
	// From here on a goroutine that frees a block reads own, which must not show the block as free
	// before own is complete. It also mails the slab, since the state is set before live.
	for i := range int(k.words) {
		if mutant.Planted != mutant.LateAdoption {
			store(&s.words[i].own, ^uint64(0))
		}
	}
	s.state.Store(stateOwned)
	s.head.Store(headOf(kindSlots, number, 1, s.chunk(), l.id))
	mutant.Pause()
	for i := range int(k.words) {
		store(&s.words[i].own, s.words[i].live.Or(^uint64(0)))
	}
	return s
}
