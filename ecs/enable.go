package ecs

import (
	"fmt"

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
	a, pos, row := w.rowOf(r)
	if !a.sig.has(id) {
		return false
	}
	return !w.types[id].enableable || a.bit(a.place[id].slot, pos, row)
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
	a, pos, row := w.rowOf(r)
	if !a.sig.has(id) {
		return false
	}
	slot := a.place[id].slot
	a.setBit(slot, pos, row, on)
	a.changed[slot][pos] = w.version
	return true
}

func (a *Archetype) bit(slot uint16, pos, row int) bool {
	return a.enabled[slot][pos][row/64]>>(row%64)&1 != 0
}

func (a *Archetype) setBit(slot uint16, pos, row int, on bool) {
	word := &a.enabled[slot][pos][row/64]
	if on {
		*word |= 1 << (row % 64)
	} else {
		*word &^= 1 << (row % 64)
	}
}

// setBits enables rows [row, row+n) of a chunk.
func (a *Archetype) setBits(slot uint16, pos, row, n int) {
	words := a.enabled[slot][pos]
	for n > 0 {
		k := min(n, 64-row%64)
		words[row/64] |= bitmask.Mask(row%64, k)
		row, n = row+k, n-k
	}
}
