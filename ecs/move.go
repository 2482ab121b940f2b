package ecs

import (
	"fmt"
	"unsafe"

	"quarry/alloc"
)

// add gives e the type id. column and row say where the component is, which has been
// cleared if clear is set and is the caller's to write if not; column is nil when e has
// it already.
func (w *World) add(op string, e Entity, id typeID, clear bool) (column unsafe.Pointer, row int, err error) {
	w.checkUnlocked(op)
	r := w.recordOf(op, e)
	if r == nil {
		panic(fmt.Sprintf("ecs: %s: %v is not alive, cannot add %s", op, e, w.types[id].name))
	}
	a, pos, at := w.seatOf(r)
	if int(id) < len(a.place) && a.place[id].flags != 0 {
		return nil, 0, nil
	}
	way, dest, err := w.flip(r, a, pos, at, id)
	if err != nil {
		return nil, 0, err
	}
	if clear {
		alloc.ClearRows(dest, 1, way.fresh)
	}
	// Safe because the type is one of the target's.
	return unsafe.Add(dest.Base, uintptr(way.to.place[id].offset)<<(dest.Order&31)), dest.Row, nil
}

// remove takes the type id from e. removed is false when e is dead or lacks it.
func (w *World) remove(op string, e Entity, id typeID) (removed bool, err error) {
	w.checkUnlocked(op)
	r := w.recordOf(op, e)
	if r == nil {
		return false, nil
	}
	a, pos, at := w.seatOf(r)
	if int(id) >= len(a.place) || a.place[id].flags == 0 {
		return false, nil
	}
	_, _, err = w.flip(r, a, pos, at, id)
	return err == nil, err
}

// flip takes a row to the archetype with id added or removed; what is new there is
// not cleared. On an error nothing has changed.
func (w *World) flip(r *record, a *Archetype, pos int, at alloc.GridRow, id typeID) (*way, alloc.GridRow, error) {
	before := len(w.archetypes)
	way, err := a.edgeTo(id)
	if err == nil && way.to.grid.Full() {
		err = way.to.grow(1)
	}
	if err != nil {
		w.forget(before)
		return nil, alloc.GridRow{}, err
	}
	return way, way.moveOne(r, pos, at), nil
}

// moveOne moves one row: send and closeGap without their loops. There is room. What is
// new is the caller's to clear.
func (w *way) moveOne(r *record, pos int, from alloc.GridRow) (dest alloc.GridRow) {
	a, to := w.from, w.to
	dest, first := to.grid.Tail()
	toPos := to.grid.LastChunk()
	*entityAt(dest) = *entityAt(from)
	alloc.CopyRow(dest, from, w.copies)
	for _, b := range w.bits {
		to.setBit(b.to, toPos, dest.Row, a.bit(b.from, pos, from.Row))
	}
	for _, slot := range w.on {
		to.setBit(slot, toPos, dest.Row, true)
	}
	for _, c := range w.spills {
		a.w.freeSpill(headerAt(from, c))
	}
	to.grid.Push(1)
	to.markRows(toPos)
	r.location = locate(first, dest.Row)
	a.removeRow(pos, from)
	a.w.epoch++
	return dest
}
