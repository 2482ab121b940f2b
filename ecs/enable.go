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

// Enable switches e's component on. It returns false when e is not alive or
// does not have it, and panics when the type is not Enableable. It may be
// called during iteration: a loop's masks are snapshots and do not change.
func (c Component[T]) Enable(e Entity) bool { return c.w.toggle("Component.Enable", e, c.id, true) }

// Disable switches e's component off: queries that name it pass e by, while Has
// and Get still find it. It returns and panics like Enable.
func (c Component[T]) Disable(e Entity) bool { return c.w.toggle("Component.Disable", e, c.id, false) }

// Enabled reports whether e is alive and has the component, switched on. A type
// that is not Enableable is always on.
func (c Component[T]) Enabled(e Entity) bool { return c.w.enabled("Component.Enabled", e, c.id) }

// Enable is Component.Enable for a buffer.
func (b Buffer[T]) Enable(e Entity) bool { return b.w.toggle("Buffer.Enable", e, b.id, true) }

// Disable is Component.Disable for a buffer.
func (b Buffer[T]) Disable(e Entity) bool { return b.w.toggle("Buffer.Disable", e, b.id, false) }

// Enabled is Component.Enabled for a buffer.
func (b Buffer[T]) Enabled(e Entity) bool { return b.w.enabled("Buffer.Enabled", e, b.id) }

func (w *World) enabled(op string, e Entity, id typeID) bool {
	r := w.recordOf(op, e)
	if r == nil {
		return false
	}
	a, pos, at := w.seatOf(r)
	if !a.sig.has(id) {
		return false
	}
	return !w.types[id].enableable || a.bit(a.place[id].slot(), pos, at.Row)
}

func (w *World) toggle(op string, e Entity, id typeID, on bool) bool {
	if w == nil {
		w.refuse(op)
	}
	if !w.types[id].enableable {
		panic(fmt.Sprintf("ecs: %s: %s was not registered with ecs.Enableable", op, w.types[id].name))
	}
	r := w.recordOf(op, e)
	if r == nil {
		return false
	}
	a, pos, at := w.seatOf(r)
	if !a.sig.has(id) {
		return false
	}
	a.toggleRow(a.place[id].slot(), pos, at.Row, on)
	return true
}

// toggleRow sets a row's bit and marks the type changed; with atomics while the
// world is shared.
func (a *Archetype) toggleRow(slot uint16, pos, row int, on bool) {
	w := a.w
	if w.phase == nil {
		a.setBit(slot, pos, row, on)
		*a.changedOf(slot, pos) = w.version
		return
	}
	word, bit := &a.enabled[slot][pos][row/64], uint64(1)<<(row%64)
	switch {
	case on && atomic.OrUint64(word, bit)&bit == 0:
		atomic.AddInt32(&a.on[slot][pos], 1)
	case !on && atomic.AndUint64(word, ^bit)&bit != 0:
		atomic.AddInt32(&a.on[slot][pos], -1)
	}
	atomic.StoreUint32(a.changedOf(slot, pos), w.version)
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
