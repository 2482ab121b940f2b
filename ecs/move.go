package ecs

import (
	"fmt"
	"unsafe"

	"quarry/alloc"
	"quarry/internal/debug"
)

// add gives e the type id. column and row say where the component is, which has been
// cleared if clear is set and is the caller's to write if not; column is nil when e has
// it already.
func (w *World) add(op string, e Entity, id typeID, clear bool) (column unsafe.Pointer, row int, err error) {
	w.checkUnlocked(op)
	r := w.records.find(e, w.tag)
	if r == nil {
		w.checkWorld(op, e)
		panic(fmt.Sprintf("ecs: %s: %v is not alive, cannot add %s", op, e, w.types[id].name))
	}
	o := w.ownerOf(r.location)
	a := w.archetypes[o.archetype-1]
	way := a.edge
	if a.edgeKey != uint32(id)|edgeAdds || way.to.grid.Full() {
		if a.sig.has(id) {
			return nil, 0, nil
		}
		if way, err = a.searchEdge(id); err != nil {
			return nil, 0, during(op, err)
		}
	}
	dest := way.moveOne(e, r, o)
	if clear {
		alloc.ClearRows(dest, 1, way.fresh)
	}
	// Safe because the type is one of the target's.
	return unsafe.Add(dest.Base, uintptr(way.to.place[id].offset)<<(dest.Order&31)), dest.Row, nil
}

// remove takes the type id from e. removed is false when e is dead or lacks it.
func (w *World) remove(op string, e Entity, id typeID) (removed bool, err error) {
	w.checkUnlocked(op)
	r := w.records.find(e, w.tag)
	if r == nil {
		w.checkWorld(op, e)
		return false, nil
	}
	o := w.ownerOf(r.location)
	a := w.archetypes[o.archetype-1]
	way := a.edge
	if a.edgeKey != uint32(id) || way.to.grid.Full() {
		if !a.sig.has(id) {
			return false, nil
		}
		if way, err = a.searchEdge(id); err != nil {
			return false, during(op, err)
		}
	}
	way.moveOne(e, r, o)
	return true, nil
}

// searchEdge returns the way to the archetype with id added, or removed when a has it,
// with room for a row at its end, and remembers it as the last one asked for. It makes
// the archetype when there is none. On an error nothing has changed.
func (a *Archetype) searchEdge(id typeID) (*way, error) {
	before := len(a.w.archetypes)
	way, err := a.findEdge(id)
	if err == nil && way.to.grid.Full() {
		err = way.to.grow(1)
	}
	if err != nil {
		a.w.forget(before)
		return nil, err
	}
	a.edge, a.edgeKey = way, uint32(id)
	if !a.sig.has(id) {
		a.edgeKey |= edgeAdds
	}
	return way, nil
}

// findEdge is searchEdge without room.
func (a *Archetype) findEdge(id typeID) (*way, error) {
	for i, e := range a.edges {
		if e.id == id && e.way.to.forgotten {
			a.edges = append(a.edges[:i], a.edges[i+1:]...)
			break
		}
		if e.id == id {
			return e.way, nil
		}
	}
	sig := a.sig
	if sig.has(id) {
		sig.drop(id)
	} else {
		sig.add(id)
	}
	to, err := a.w.archetypeOf(sig)
	if err != nil {
		return nil, err
	}
	way := a.wayTo(to)
	a.edges = append(a.edges, edge{id, way})
	return way, nil
}

// moveOne moves one row, whose entity, record and owner are given: send and closeGap
// without their loops, in one function because calls would be most of its cost. There
// is room. What is new is the caller's to clear. A way without a target ends the row.
func (w *way) moveOne(e Entity, r *record, o owner) (dest alloc.GridRow) {
	a, world := w.from, w.from.w
	hole := r.location
	base, row := world.split(hole, o.order())
	from := alloc.GridRow{Base: base, Order: o.order(), Row: row}
	if to := w.to; to != nil {
		var first alloc.Eighth
		dest, first = to.grid.Tail()
		*entityAt(dest) = e
		for i := range w.copies {
			c := &w.copies[i]
			alloc.CopyElement(dest.Element(c.To, c.Size), from.Element(c.From, c.Size), c.Size)
		}
		if w.rare {
			w.sendRare(o.pos(), from, dest)
		}
		to.grid.Push(1)
		if pos := to.grid.LastChunk(); to.marked[pos] != world.version {
			to.markRows(pos)
		}
		r.location = locate(first, dest.Row)
	}
	last, lastPos := a.grid.LastRow(), a.grid.LastChunk()
	if last != from { // the last row fills the gap
		moved := *entityAt(last)
		*entityAt(from) = moved
		world.records.at(moved.ref & indexMask).location = hole
		columns := a.grid.Columns()
		for i := range columns {
			c := &columns[i]
			alloc.CopyElement(from.Element(c.Offset, c.Size), last.Element(c.Offset, c.Size), c.Size)
		}
		if len(a.toggling) > 0 {
			a.moveBits(o.pos(), row, lastPos, last.Row)
		}
		if pos := o.pos(); pos != lastPos && a.marked[pos] != world.version {
			a.carryVersions(pos, lastPos)
		} else {
			a.ordered[pos] = world.version
		}
	}
	a.ordered[lastPos] = world.version
	if len(a.toggling) > 0 {
		a.dropBits(lastPos, last.Row)
	}
	if debug.On {
		alloc.PoisonRows(last, 1, a.grid.Columns())
	}
	if last.Row == 0 {
		a.leave(lastPos)
	}
	a.grid.Pop(last.Row)
	world.epoch++
	return dest
}

// sendRare is the part of moveOne that few ways have: enable bits, and elements of
// buffers that end.
func (w *way) sendRare(pos int, from, dest alloc.GridRow) {
	toPos := w.to.grid.LastChunk()
	for _, b := range w.bits {
		w.to.setBit(b.to, toPos, dest.Row, w.from.bit(b.from, pos, from.Row))
	}
	for _, slot := range w.on {
		w.to.setBit(slot, toPos, dest.Row, true)
	}
	for _, c := range w.spills {
		w.from.w.freeSpill(headerAt(from, c))
	}
}

// moveBits gives a row the enable bits of another; dropBits clears those of a row.
func (a *Archetype) moveBits(pos, row, from, fromRow int) {
	for _, slot := range a.toggling {
		a.setBit(slot, pos, row, a.bit(slot, from, fromRow))
	}
}

func (a *Archetype) dropBits(pos, row int) {
	for _, slot := range a.toggling {
		a.setBit(slot, pos, row, false)
	}
}
