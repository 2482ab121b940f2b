package ecs

import (
	"quarry/alloc"
	"quarry/internal/debug"
)

// Destroy ends an entity and everything it holds. It returns false, and does
// nothing, when e is not alive: destroying twice, or Null, is no error. It
// panics during iteration and for an entity of another world.
func (w *World) Destroy(e Entity) bool {
	w.checkUnlocked("World.Destroy")
	r := w.recordOf("World.Destroy", e)
	if r == nil {
		return false
	}
	a, pos, at := w.seatOf(r)
	for _, c := range a.buffers {
		w.freeSpill(headerAt(at, c))
	}
	a.removeRow(pos, at)
	index := e.ref & indexMask
	if w.names != nil {
		w.forgetName(index)
	}
	if w.records.owns(index) {
		w.records.give(index, r)
	} else {
		w.records.giveShared(index)
	}
	w.destroyed++
	w.epoch++
	return true
}

// DestroyQuery ends every entity that matches q and returns how many. It panics during
// iteration and for a query of another world. Changed and Ordered terms of q compare
// with its Since, which stays. Cost: per chunk, but for the ids, where all rows of an
// archetype match.
func (w *World) DestroyQuery(q *Query) int {
	w.checkUnlocked("World.DestroyQuery")
	w.checkQuery("World.DestroyQuery", q)
	return w.destroyPicked(q.pick())
}

// DestroyList ends the entities of a list, in any order, and returns how many.
// Those that are dead, or twice in the list, are passed by. It panics for an entity of
// another world, and destroys nothing then.
func (w *World) DestroyList(list []Entity) int {
	w.checkUnlocked("World.DestroyList")
	return w.destroyPicked(w.pickList("World.DestroyList", list, false))
}

func (w *World) destroyPicked(p *pick) (n int) {
	for i := range p.picks {
		s := &p.picks[i]
		n += s.rows
		s.end()
	}
	if n > 0 {
		w.destroyed += uint64(n)
		w.epoch++
	}
	return n
}

// Clear ends every entity, those of hidden ones included. Types, archetypes and
// queries stay, as do versions: handles from before are dead, and the indices are
// given again from the lowest on. It panics during iteration.
func (w *World) Clear() {
	w.checkUnlocked("World.Clear")
	p := w.newPick()
	for _, a := range w.archetypes {
		if n := a.grid.Len(); n > 0 {
			s := p.add(a)
			s.rows, s.whole = n, true
		}
	}
	w.destroyPicked(p)
	w.records.endLease()
}

// recordOf returns the record of an entity that is alive, else nil; it panics
// for one of another world.
func (w *World) recordOf(op string, e Entity) *record {
	if w == nil || e.ref&^indexMask != w.tag {
		w.checkWorld(op, e)
		return nil
	}
	r := w.records.find(e)
	if r == nil {
		w.checkWorld(op, e)
	}
	return r
}

// seatOf returns where a record's entity is.
func (w *World) seatOf(r *record) (a *Archetype, pos int, at alloc.GridRow) {
	o := w.ownerOf(r.location)
	base, row := w.split(r.location, o.order())
	return w.archetypes[o.archetype-1], o.pos(), alloc.GridRow{Base: base, Order: o.order(), Row: row}
}

// removeRow closes the gap at a row with the archetype's last row, whose entity
// is told, and lets the last chunk go when it is empty.
func (a *Archetype) removeRow(pos int, hole alloc.GridRow) {
	last, lastPos := a.grid.LastRow(), a.grid.LastChunk()
	if last != hole {
		moved := *entityAt(last)
		*entityAt(hole) = moved
		a.w.records.at(moved.ref & indexMask).location = a.locate(pos, hole.Row)
		alloc.CopyRow(hole, last, a.grid.Self())
		for _, slot := range a.toggling {
			a.setBit(slot, pos, hole.Row, a.bit(slot, lastPos, last.Row))
		}
		a.carryVersions(pos, lastPos)
	}
	a.ordered[lastPos] = a.w.version
	for _, slot := range a.toggling {
		a.setBit(slot, lastPos, last.Row, false)
	}
	if debug.On {
		a.grid.PoisonRows(last, 1)
	}
	if last.Row == 0 {
		a.leave(lastPos)
	}
	a.grid.Pop(last.Row)
}
