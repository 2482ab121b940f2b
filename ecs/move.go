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

// moveOne moves one row, whose entity, record and owner are given, behind the last one
// of the way's target, which has room, and returns where it is. What is new is the
// caller's to clear. This and closeRow are send and closeGap for a single row, without
// their loops.
func (w *way) moveOne(e Entity, r *record, o owner) (dest alloc.GridRow) {
	to, hole := w.to, r.location
	from := w.from.w.rowAt(hole, o)
	dest, first := to.grid.Tail()
	if w.rare {
		w.sendRare(o.pos(), from, dest)
	}
	*entityAt(dest) = e
	r.location = locate(first, dest.Row)
	to.markRows(to.grid.LastChunk())
	to.grid.Push(1)
	for i := range w.copies {
		c := &w.copies[i]
		alloc.CopyElement(dest.Element(c.To, c.Size), from.Element(c.From, c.Size), c.Size)
	}
	w.from.closeRow(from, hole, o.pos())
	return dest
}

// closeRow ends the row at a location, which is in the chunk at pos: the last row of all
// fills its place. What it holds is the caller's to free.
func (a *Archetype) closeRow(at alloc.GridRow, hole location, pos int) {
	world := a.w
	last, lastPos := a.grid.LastRow(), a.grid.LastChunk()
	if len(a.toggling) > 0 {
		a.closeBits(pos, at.Row, lastPos, last.Row)
	}
	a.ordered[lastPos] = world.version
	if last.Row != at.Row || pos != lastPos {
		moved := *entityAt(last)
		*entityAt(at) = moved
		world.records.at(moved.ref & indexMask).location = hole
		if pos != lastPos {
			a.carryVersions(pos, lastPos)
		}
		columns := a.grid.Columns()
		for i := range columns {
			c := &columns[i]
			alloc.CopyElement(at.Element(c.Offset, c.Size), last.Element(c.Offset, c.Size), c.Size)
		}
	}
	if debug.On {
		alloc.PoisonRows(last, 1, a.grid.Columns())
	}
	if last.Row == 0 {
		a.leave(lastPos)
	}
	a.grid.Pop(last.Row)
	world.epoch++
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

// closeBits gives a row the enable bits of the last one and clears those: it may be the
// last one itself.
func (a *Archetype) closeBits(pos, row, lastPos, lastRow int) {
	for _, slot := range a.toggling {
		a.setBit(slot, pos, row, a.bit(slot, lastPos, lastRow))
		a.setBit(slot, lastPos, lastRow, false)
	}
}
