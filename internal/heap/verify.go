package heap

import (
	"errors"
	"fmt"
	"math/bits"

	"quarry/internal/universe"
)

// heapCheck is the state of one Verify. mu is held.
type heapCheck struct {
	h      *Heap
	err    error
	places map[*slab]string // where each slab is referred to from
	kept   map[*uint64]bool // words of the wide slots that Locals keep
	recent map[*slab]int    // recent slots of Locals
	slabs  int              // number of slabs of slots
}

// Verify is Heap.Verify of package alloc.
func (h *Heap) Verify() error {
	if h.Closed.Load() {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	v := &heapCheck{h: h, places: map[*slab]string{}, kept: map[*uint64]bool{}, recent: map[*slab]int{}}
	v.gather()
	h.eachHead(v.chunk)
	v.verifySpans()
	first, n := h.supply.run()
	for i := range n {
		c := first + universe.ChunkIndex(i)
		if s := h.table.at(c); !h.u.InUse(c) || s != nil && s.head.Load() != 0 {
			v.fail("H1: chunk %d was taken ahead: in use in the universe %v, by the heap %v",
				c, h.u.InUse(c), s != nil && s.head.Load() != 0)
		}
	}
	if err := h.mappings.Verify(); err != nil && v.err == nil {
		v.err = err
	}
	if got := int(h.supply.slabs.Load()); got != v.slabs {
		v.fail("H7: there are %d slabs of slots, the count says %d", v.slabs, got)
	}
	for _, a := range h.overflows.list() {
		if v.err == nil {
			v.err = errors.Join(a.Verify(), a.u.Verify())
		}
	}
	return v.err
}

func (v *heapCheck) fail(format string, args ...any) {
	if v.err == nil {
		v.err = fmt.Errorf("alloc: "+format, args...)
	}
}

// gather records which slabs are held, listed, or kept by a Local.
func (v *heapCheck) gather() {
	h := v.h
	for i := range h.shard {
		for number := range h.shard[i].current {
			if s := h.shard[i].current[number].Load(); s != nil {
				v.note(s, "held", number, 0)
			}
		}
	}
	for number := range h.listed {
		n := 0
		for i := range h.shard {
			list := &h.shard[i].lists[number]
			if n += v.walk(list, "listed", number, 0); list.head != 0 && int(h.table.link(list.head).home) != i {
				v.fail("H3: shard %d lists a slab of class %d of shard %d", i, number, h.table.link(list.head).home)
			}
		}
		if got := int(h.listed[number].Load()); got != n {
			v.fail("H3: %d slabs of class %d are listed, the count says %d", n, number, got)
		}
	}
	for number := range h.wide {
		for at := h.wide[number].head; at != 0; {
			s := h.table.link(at)
			v.places[s] = "wide"
			at = s.next
		}
	}
	for _, l := range h.locals {
		if l == nil {
			continue
		}
		v.verifyRuns(l)
		v.verifyRecent(l)
		for number := range classCount {
			c := &l.classes[number]
			if c.current != nil {
				v.note(c.current, "current", number, l.id)
			}
			v.walk(&c.partial, "partial", number, l.id)
			v.walk(&c.full, "full of its owner", number, l.id)
		}
	}
}

// walk records the slabs of a list and counts them.
func (v *heapCheck) walk(list *slabList, where string, number int, owner uint32) (n int) {
	prev := uint32(0)
	for at := list.head; at != 0 && v.err == nil; n++ {
		s := v.h.table.link(at)
		if s.prev != prev {
			v.fail("%s: slab at chunk %d, %s: leads back to link %d, not %d",
				placeInvariant(owner), at-1, where, s.prev, prev)
		}
		v.note(s, where, number, owner)
		prev, at = at, s.next
	}
	return n
}

func placeInvariant(owner uint32) string {
	if owner == 0 {
		return "H3"
	}
	return "H4"
}

func (v *heapCheck) note(s *slab, where string, number int, owner uint32) {
	head := s.head.Load()
	if was := v.places[s]; was != "" || head&kindMask != kindSlots || classIn(head) != number ||
		ownerIn(head) != owner {
		v.fail("%s: slab at chunk %d of class %d, owner %d, is %s in class %d of %d; and %q",
			placeInvariant(owner), firstIn(head), classIn(head), ownerIn(head), where, number, owner, was)
	}
	v.places[s] = where
}

// chunk checks one head.
func (v *heapCheck) chunk(c universe.ChunkIndex, s *slab, head uint64) {
	if !v.h.u.InUse(c) {
		v.fail("H1: chunk %d of the heap is not in use in the universe", c)
	}
	first, n := firstIn(head), chunksIn(head)
	switch kind := head & kindMask; {
	case kind == kindSlots:
		v.slabs++
		if first != c || n != 1 {
			v.fail("H1: the slab of chunk %d leads to %d chunks from %d on", c, n, first)
		}
		v.slab(c, s, head)
	case kind == kindRun:
		if first != c {
			v.fail("H1: the run of chunk %d begins at %d", c, first)
		}
		v.run(first, n, 0)
	case kind == kindCached:
		if v.run(first, n, 0); v.places[s] != "kept" {
			v.fail("H9: the run of %d chunks at chunk %d is kept for reuse, and in no list of Local %d",
				n, c, ownerIn(head))
		}
	case kind == kindWide:
		v.run(first, n, headOf(kindInterior, classIn(head), n, first, 0))
		v.wide(c, s, classIn(head))
	case kind != kindInterior:
		v.fail("H1: chunk %d has the head %#x", c, head)
	default:
		t := v.h.table.at(first).head.Load()
		if first > c || c >= first+universe.ChunkIndex(n) || t != headOf(kindWide, classIn(head), n, first, 0) {
			v.fail("H1: chunk %d leads to %d chunks from %d on, where the head is %#x", c, n, first, t)
		}
	}
}

// run checks the chunks after the first of a run: all must have the head want.
func (v *heapCheck) run(first universe.ChunkIndex, n int, want uint64) {
	for c := first + 1; c < first+universe.ChunkIndex(n); c++ {
		head := uint64(0)
		if s := v.h.table.at(c); s != nil {
			head = s.head.Load()
		}
		if head != want || !v.h.u.InUse(c) {
			v.fail("H1: chunk %d of a run of %d from %d on: head %#x want %#x, in use in the universe %v",
				c, n, first, head, want, v.h.u.InUse(c))
		}
	}
}

// slab checks a slab of slots.
func (v *heapCheck) slab(c universe.ChunkIndex, s *slab, head uint64) {
	k, owner := &classes[classIn(head)], ownerIn(head)
	missing, notOwned, free := false, false, 0
	for i := range int(k.words) {
		live := s.live[i].Load()
		missing = missing || live&k.beyond(i) != k.beyond(i)
		free += bits.OnesCount64(^live)
		notOwned = notOwned || ^live&^s.ownSlots(k, i) != 0
	}
	used, stray := 0, uint64(0)
	for i := range s.own() {
		used += bits.OnesCount64(s.own()[i])
		stray |= s.own()[i] &^ starts[classIn(head)][i]
	}
	if missing || owner != 0 && stray != 0 {
		v.fail("H2: slab at chunk %d of %d slots: a bit beyond them is clear: %v; bits of its owner that stand for none: %#x",
			c, k.slots, missing, stray)
	}
	where, state := v.places[s], s.state.Load()
	if owner == 0 {
		ok := state == stateHeld && where == "held" || state == stateListed && where == "listed" ||
			state == stateFull && where == "" && free < int(k.batch)
		if !ok || s.listed != (where == "listed") || s.queued {
			v.fail("H3: shared slab at chunk %d: state %d, place %q, listed %v, %d slots free",
				c, state, where, s.listed, free)
		}
		return
	}
	ownFree := int(k.slots) - used
	ok := s.place == placeCurrent && where == "current" || s.place == placePartial && where == "partial" ||
		s.place == placeFull && where == "full of its owner" && int(s.freed) == ownFree-v.recent[s] &&
			int(s.freed) < max(1, int(k.slots)/batchPart)
	if !ok || s.listed {
		v.fail("H4: slab at chunk %d of Local %d: place %d, is in %q, %d slots free, %d of them recent, counted %d",
			c, owner, s.place, where, ownFree, v.recent[s], s.freed)
	}
	if key := s.key().Load(); key != 0 && (state == stateMailed || key != s.keyOf(owner, classIn(head))) {
		v.fail("H4: slab at chunk %d of Local %d, class %d, state %d: has the key %#x",
			c, owner, classIn(head), state, key)
	}
	if notOwned || s.queued != (state == stateMailed) || free > 0 && !s.queued || !s.queued && state != stateOwned {
		v.fail("H5: slab at chunk %d of Local %d: state %d, queued %v, freed by others %v, of those not in use %v",
			c, owner, state, s.queued, free > 0, notOwned)
	}
}
