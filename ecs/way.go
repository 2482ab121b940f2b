package ecs

import (
	"slices"

	"quarry/alloc"
)

// way is how rows go from one archetype to another.
type way struct {
	from, to *Archetype
	copies   []alloc.ColumnCopy // columns that both have
	fresh    []column           // columns that only to has
	spills   []column           // buffers that only from has: their elements end
	bits     []bitMove          // enable bits that both have
	on       []uint16           // slots of to whose bits from lacks: new ones are enabled
	rare     bool               // there are bits, on or spills
	relabel  bool               // rows lie alike in both: whole chunks can change hands
}

// bitMove says where an enableable type's bits are in two archetypes.
type bitMove struct{ from, to uint16 }

const (
	edgeAdds = 1 << 16 // of Archetype.edgeKey
	noEdge   = 1 << 17
)

// edge is the way to the archetype that differs by one type.
type edge struct {
	id  typeID // the type that is added or removed
	way *way
}

// wayTo makes the way from a to another archetype.
func (a *Archetype) wayTo(to *Archetype) *way {
	w := &way{from: a, to: to, relabel: a.grid.PerUnit() == to.grid.PerUnit()}
	for _, c := range to.grid.Columns() {
		if !a.sig.has(typeID(c.Key)) {
			w.fresh = append(w.fresh, c)
			w.relabel = false
			continue
		}
		at := a.place[c.Key].offset
		w.copies = append(w.copies, alloc.ColumnCopy{From: at, To: c.Offset, Size: c.Size})
		w.relabel = w.relabel && at == c.Offset
	}
	w.relabel = w.relabel && len(a.grid.Columns()) == len(w.copies)
	for _, c := range a.buffers {
		if !to.sig.has(typeID(c.Key)) {
			w.spills = append(w.spills, c)
		}
	}
	for _, slot := range to.toggling {
		if id := to.types[slot]; a.sig.has(id) {
			w.bits = append(w.bits, bitMove{a.place[id].slot, slot})
		} else {
			w.on = append(w.on, slot)
		}
	}
	w.rare = len(w.bits)+len(w.on)+len(w.spills) > 0
	return w
}

// giveBooks moves the books of the first n chunks of from to position at of to.
func (w *way) giveBooks(n, at int) {
	from, to := w.from, w.to
	to.marked = slices.Insert(to.marked, at, make([]uint32, n)...)
	to.ordered = slices.Insert(to.ordered, at, make([]uint32, n)...)
	from.marked, from.ordered = slices.Delete(from.marked, 0, n), slices.Delete(from.ordered, 0, n)
	for slot := range to.changed {
		to.changed[slot] = slices.Insert(to.changed[slot], at, make([]uint32, n)...)
	}
	for slot := range from.changed {
		from.changed[slot] = slices.Delete(from.changed[slot], 0, n)
	}
	for _, b := range w.bits {
		to.enabled[b.to] = slices.Insert(to.enabled[b.to], at, from.enabled[b.from][:n]...)
		to.on[b.to] = slices.Insert(to.on[b.to], at, from.on[b.from][:n]...)
	}
	for _, slot := range w.on {
		to.enabled[slot] = slices.Insert(to.enabled[slot], at, make([][]uint64, n)...)
		for pos := at; pos < at+n; pos++ {
			to.enabled[slot][pos] = to.makeBits(to.grid.Chunks()[pos])
		}
		to.on[slot] = slices.Insert(to.on[slot], at, make([]int32, n)...)
	}
	for _, slot := range from.toggling {
		from.enabled[slot] = slices.Delete(from.enabled[slot], 0, n)
		from.on[slot] = slices.Delete(from.on[slot], 0, n)
	}
}
