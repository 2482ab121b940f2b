package ecs

import (
	"fmt"
	"math/bits"
	"sync/atomic"

	"quarry/alloc"
	"quarry/bitmask"
)

// Enable bits: one word per 64 rows, for each type that was registered with
// Enableable, in Go memory beside the chunk. Toggling is no structural change
// and moves nothing. Bits of rows beyond the last are 0 (W6).

func (t *typeInfo) enabled(op string, e Entity) bool {
	a, pos, row := t.seat(op, e)
	switch {
	case a == nil:
	case t.loan != nil && !t.loan.out:
		t.loan.refuse(op + ": " + t.name)
	case t.guarded:
		t.checkLent(op, mayRead)
	}
	return a != nil && (!t.enableable || a.bit(a.place[t.id].slot(), pos, row))
}

func (t *typeInfo) toggle(op string, e Entity, on bool) bool {
	t.checkEnableable(op)
	if t.loan != nil {
		t.checkWritable(op)
	} else if t.guarded {
		t.checkLent(op, mayWrite)
	}
	a, pos, row := t.seat(op, e)
	if a == nil {
		return false
	}
	t.toggleRow(a, pos, row, on)
	return true
}

// toggleAt is toggle of the i'th of rows.
func (t *typeInfo) toggleAt(op string, rows Rows, i int, on bool) {
	p := rows.bitAt(t, op, i)
	if p.flags()&(mayWrite|lentWrite) == 0 {
		rows.refuse(t, op)
	}
	s := rows.s
	if s.loan != nil {
		t = s.loan.copyOf(t)
	}
	t.toggleRow(s.t.a, s.pos, s.first+i, on)
}

// bitAt returns where the enable bit of the i'th of rows is.
func (r Rows) bitAt(t *typeInfo, op string, i int) place {
	t.checkEnableable(op)
	p, ok := r.placeOf(t, op)
	if !ok {
		panic(fmt.Sprintf("ecs: %s: %v has no %s: ask Component.In first", op, r.s.t.a, t.name))
	}
	if uint(i) >= uint(r.Len()) {
		panic(fmt.Sprintf("ecs: %s: row %d is not in [0, %d)", op, i, r.Len()))
	}
	return p
}

// checkEnableable panics for a zero handle and a type that is not Enableable.
func (t *typeInfo) checkEnableable(op string) {
	if t == nil {
		t.world().refuse(op)
	}
	if !t.enableable {
		panic(fmt.Sprintf("ecs: %s: %s was not registered with ecs.Enableable", op, t.name))
	}
}

// seat returns where e is; a is nil when it is not alive or lacks the type.
func (t *typeInfo) seat(op string, e Entity) (a *Archetype, pos, row int) {
	w := t.world()
	r := w.recordOf(op, e)
	if r == nil {
		return nil, 0, 0
	}
	a, pos, at := w.seatOf(r)
	if !a.sig.has(t.id) {
		return nil, 0, 0
	}
	return a, pos, at.Row
}

// toggleRow sets a row's bit and marks the type changed; with atomics while the
// world is shared, and in a loan.
func (t *typeInfo) toggleRow(a *Archetype, pos, row int, on bool) {
	slot, w := a.place[t.id].slot(), a.w
	switch {
	case t.loan != nil:
		a.toggleShared(slot, pos, row, on)
		t.loan.mark(a.changedOf(slot, pos))
	case w.phase != nil:
		a.toggleShared(slot, pos, row, on)
		atomic.StoreUint32(a.changedOf(slot, pos), w.version)
	default:
		a.setBit(slot, pos, row, on)
		*a.changedOf(slot, pos) = w.version
	}
}

// toggleShared sets a bit that other goroutines may look at, and whose neighbours they may set.
func (a *Archetype) toggleShared(slot uint16, pos, row int, on bool) {
	word, bit := &a.enabled[slot][pos][row/64], uint64(1)<<(row%64)
	switch {
	case on && atomic.OrUint64(word, bit)&bit == 0:
		atomic.AddInt32(&a.on[slot][pos], 1)
	case !on && atomic.AndUint64(word, ^bit)&bit != 0:
		atomic.AddInt32(&a.on[slot][pos], -1)
	}
}

func (a *Archetype) bit(slot uint16, pos, row int) bool {
	return atomic.LoadUint64(&a.enabled[slot][pos][row/64])>>(row%64)&1 != 0
}

func (a *Archetype) setBit(slot uint16, pos, row int, on bool) {
	word, bit := &a.enabled[slot][pos][row/64], uint64(1)<<(row%64)
	if old := *word&bit != 0; old != on {
		*word ^= bit
		if on {
			a.on[slot][pos]++
		} else {
			a.on[slot][pos]--
		}
	}
}

// setBits enables rows [row, row+n) of a chunk, whose bits are clear.
func (a *Archetype) setBits(slot uint16, pos, row, n int) {
	bitmask.Bits(a.enabled[slot][pos]).SetRange(row, n)
	a.on[slot][pos] += int32(n)
}

// spareBits are enable bits of chunks that went, for chunks that come: lists by the
// binary logarithm of the room in words, which is 2,048 at most (2^17 rows of 8 bytes
// fill a megachunk). Without them a batch would allocate for each chunk.
type spareBits [12][][]uint64

// newBits returns the enable bits of a chunk, all clear.
func (a *Archetype) newBits(c alloc.GridChunk) []uint64 {
	n := (a.grid.Fits(c) + 63) / 64
	room := bits.Len(uint(n - 1))
	spare := &a.w.spare[room]
	last := len(*spare) - 1
	if last < 0 {
		return make([]uint64, n, 1<<room)
	}
	words := (*spare)[last][:n]
	*spare = (*spare)[:last]
	clear(words)
	return words
}

// keepBits takes the enable bits of chunks that go.
func (w *World) keepBits(chunks [][]uint64) {
	for i, words := range chunks {
		spare := &w.spare[bits.Len(uint(cap(words)-1))]
		*spare = append(*spare, words)
		chunks[i] = nil
	}
}

// Many at once, by query and by list: whole words of bits.

func (t *typeInfo) toggleQuery(op string, q *Query, on bool) int {
	t.checkToggle(op)
	t.w.checkQuery(op, q)
	q.checkLooks(op)
	return q.pick().toggle(t.id, on)
}

func (t *typeInfo) toggleList(op string, list []Entity, on bool) int {
	t.checkToggle(op)
	return t.w.pickList(op, list, false).toggle(t.id, on)
}

// checkToggle panics unless bits of the type may be switched in bulk.
func (t *typeInfo) checkToggle(op string) {
	t.world().checkHandle(op)
	if t.w.phase != nil {
		panic("ecs: " + op + ": the world is shared: until Phase.End bits are switched entity by entity")
	}
	t.checkEnableable(op)
	t.checkLent(op, mayWrite)
}

// toggle switches the bits of the picked rows that have a type, and marks it changed
// in their chunks.
func (p *pick) toggle(id typeID, on bool) (n int) {
	for i := range p.picks {
		s := &p.picks[i]
		if !s.a.sig.has(id) {
			continue
		}
		n += s.rows
		slot := s.a.place[id].slot()
		if s.whole || s.mask != nil {
			for pos := range s.a.grid.Chunks() {
				s.toggleChunk(slot, pos, on)
			}
			continue
		}
		for _, row := range s.list {
			pos, at := s.a.grid.Find(int(uint32(row)))
			s.a.setBit(slot, pos, at, on)
			*s.a.changedOf(slot, pos) = s.a.w.version
		}
	}
	return n
}

// toggleChunk switches the bits of the picked rows of one chunk.
func (s *picked) toggleChunk(slot uint16, pos int, on bool) {
	a, rows := s.a, s.a.grid.RowsOf(pos)
	words := a.enabled[slot][pos][:(rows+63)/64]
	if s.whole {
		a.clearBits(slot, pos, 0, rows)
		if on {
			a.setBits(slot, pos, 0, rows)
		}
		*a.changedOf(slot, pos) = a.w.version
		return
	}
	count, some := 0, uint64(0)
	for i, mask := range s.maskOf(pos) {
		some |= mask
		if on {
			words[i] |= mask
		} else {
			words[i] &^= mask
		}
		count += bits.OnesCount64(words[i])
	}
	if some != 0 {
		a.on[slot][pos] = int32(count)
		*a.changedOf(slot, pos) = a.w.version
	}
}
