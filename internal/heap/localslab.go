package heap

import (
	"fmt"
	"math/bits"
	"unsafe"

	"quarry/internal/debug"
	"quarry/internal/universe"
	"quarry/internal/universe/mutant"
)

// The slabs of a Local: where it gets them, how it learns of frees by others, and how they become
// shared slabs.

// allocNext is Alloc for a class whose current word is full.
//
//go:noinline
func (l *Local) allocNext(number, size int) (unsafe.Pointer, error) {
	if l.h == nil {
		panicZero("Local.Alloc")
	}
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
	for c.n == 0 && c.rest == 0 && !c.advance(number) {
		if err := l.refill(c, number); err != nil {
			return nil, err
		}
	}
	var q uint32
	if c.n > 0 {
		c.n--
		q = c.recent[c.n]
	} else {
		q = c.next()
	}
	p := l.take(q)
	if debug.On {
		poisonFresh(p, number)
	}
	return p, nil
}

// refill makes another slab current: a slab of l with a free slot, after folding the inbox; else a
// slab adopted from the heap; else a new one.
func (l *Local) refill(c *localClass, number int) error {
	if s := c.current; s != nil {
		c.current = nil
		l.move(s, placeFull)
		s.freed = 0
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

// move changes the place of a slab, and its key unless others have freed slots of it. A goroutine
// that mails the slab meanwhile clears the key, since that comes after the change of the state.
func (l *Local) move(s *slab, to place) {
	s.place = to
	key := s.key()
	key.Store(s.keyOf(l.id, classIn(s.head.Load())))
	if s.state.Load() != stateOwned {
		key.Store(0)
	}
}

// use makes s current.
func (l *Local) use(c *localClass, s *slab) {
	l.move(s, placeCurrent)
	c.current, c.first = s, (slotWords-1)*64 // advance begins with the first word
}

// batchPart sets how many slots of a full slab must be free before it is allocated from again: 1 of
// so many of its slots, or 1 slot. With one slot alone, frees that are scattered over many slabs
// move a slab between the lists at nearly each call.
const batchPart = 32

// count adds n free slots, which are not recent, to a slab in placeFull, and
// lists the slab when it has enough.
func (l *Local) count(c *localClass, s *slab, number, n int) {
	if s.freed += uint32(n); int(s.freed) >= int(classes[number].slots)/batchPart {
		l.list(c, s)
	}
}

// freed completes Free of a slot: it is recent, or counted; the slab may be empty.
//
//go:noinline
func (l *Local) freed(q uint32, number int) {
	c, s := &l.classes[number], l.table.at(chunkOfQuantum(q))
	if c.n < recentSlots && s.place != placePartial {
		c.recent[c.n] = q
		c.n++
	} else if s.place == placeFull {
		l.count(c, s, number, 1)
	}
	if s.place == placeCurrent || !s.ownsNothing() {
		return
	}
	if s.place == placeFull {
		l.list(c, s)
	}
	l.dropEmpty(c, s, false)
}

// list moves a slab from the full ones to those with free slots.
func (l *Local) list(c *localClass, s *slab) {
	c.full.remove(l.table, s)
	l.move(s, placePartial)
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
func (l *Local) dropEmpty(c *localClass, s *slab, all bool) bool {
	if !s.ownsNothing() || !all && c.partial.head == uint32(s.chunk())+1 && s.next == 0 {
		return false
	}
	// A free of a block that is not live may have cleared a bit and not mailed the slab yet. Such a
	// slab stays, so that fold finds the double free.
	if s.hasRoom(&classes[classIn(s.head.Load())]) || !s.state.CompareAndSwap(stateOwned, stateNone) {
		return false
	}
	c.partial.remove(l.table, s)
	chunk := s.chunk()
	c.forget(chunk)
	s.key().Store(0)
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
		l.empty(number)
		c := &l.classes[number]
		if s := c.current; s != nil && s.ownsNothing() {
			c.current, c.rest = nil, 0
			l.move(s, placePartial)
			c.partial.push(l.table, s)
		}
		for at := c.partial.head; at != 0; {
			s := l.table.link(at)
			at = s.next
			if l.dropEmpty(c, s, true) {
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
		s.key().Store(s.keyOf(l.id, classIn(head))) // before the state: a free that mails the slab again clears it
		s.state.Store(stateOwned)                   // before fold: from now on a free mails the slab again
		n, slot := s.fold(&classes[classIn(head)])
		if slot >= 0 {
			bad = twice{head: head, slot: slot}
		}
		if n > 0 {
			l.folded(s, classIn(head), n)
		}
	}
	return bad
}

// folded completes the frees of n slots by others.
func (l *Local) folded(s *slab, number, n int) {
	c := &l.classes[number]
	if s.place == placeFull {
		l.count(c, s, number, n)
	}
	if s.place == placePartial {
		l.dropEmpty(c, s, false)
	}
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
	s.key().Store(0)
	s.state.Store(stateFull)
	s.low.Store(0)
	s.head.Store(headOf(kindSlots, number, 1, s.chunk(), 0))
	for i := range int(k.words) {
		s.live[i].And(s.ownSlots(k, i) | k.beyond(i))
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
	s := h.takeListed(number, 0)
	if s == nil {
		return nil
	}
	k := &classes[number]
	// From here on a goroutine that frees a block reads own, which must not show the block as free
	// before own is complete. It also mails the slab, since the state is set before live.
	for i := range s.own() {
		if mutant.Planted != mutant.LateAdoption {
			store(&s.own()[i], ^uint64(0))
		}
	}
	s.state.Store(stateOwned)
	s.head.Store(headOf(kindSlots, number, 1, s.chunk(), l.id))
	mutant.Pause()
	var own [slotWords]uint64
	for i := range int(k.words) {
		for w := s.live[i].Or(^uint64(0)) &^ k.beyond(i); w != 0; w &= w - 1 {
			at, m := k.start(i*64 + bits.TrailingZeros64(w))
			own[at] |= m
		}
	}
	for i := range s.own() {
		store(&s.own()[i], own[i])
	}
	return s
}
