package ecs

import (
	"fmt"

	"quarry/alloc"
)

// add gives e the type id, zeroed. added is false when e has it already.
func (w *World) add(op string, e Entity, id typeID) (added bool, err error) {
	w.checkUnlocked(op)
	r := w.recordOf(op, e)
	if r == nil {
		panic(fmt.Sprintf("ecs: %s: %v is not alive, cannot add %s", op, e, w.types[id].name))
	}
	a, pos, row := w.rowOf(r)
	if a.sig.has(id) {
		return false, nil
	}
	err = w.flip(r, a, pos, row, id)
	return err == nil, err
}

// remove takes the type id from e. removed is false when e is dead or lacks it.
func (w *World) remove(op string, e Entity, id typeID) (removed bool, err error) {
	w.checkUnlocked(op)
	r := w.recordOf(op, e)
	if r == nil {
		return false, nil
	}
	a, pos, row := w.rowOf(r)
	if !a.sig.has(id) {
		return false, nil
	}
	err = w.flip(r, a, pos, row, id)
	return err == nil, err
}

// flip takes a row to the archetype with id added or removed. On an error nothing
// has changed.
func (w *World) flip(r *record, a *Archetype, pos, row int, id typeID) error {
	before := len(w.archetypes)
	way, err := a.edgeTo(id)
	if err == nil {
		err = way.moveOne(r, pos, row)
	}
	if err != nil {
		w.forget(before)
	}
	return err
}

// moveOne moves one row: send and closeGap without their loops. On an error nothing
// has changed.
func (w *way) moveOne(r *record, pos, row int) error {
	a, to := w.from, w.to
	toPos, toRow := to.grid.End()
	if toPos == len(to.grid.Chunks()) {
		if err := to.grow(1); err != nil {
			return err
		}
	}
	from, dest := a.grid.Row(pos, row), to.grid.Row(toPos, toRow)
	entities(dest.Base, toRow+1)[toRow] = entities(from.Base, row+1)[row]
	alloc.CopyRows(dest, from, 1, w.copies)
	alloc.ClearRows(dest, 1, w.fresh)
	for _, b := range w.bits {
		to.setBit(b.to, toPos, toRow, a.bit(b.from, pos, row))
	}
	for _, slot := range w.on {
		to.setBit(slot, toPos, toRow, true)
	}
	for _, c := range w.spills {
		a.w.freeSpill(headerAt(from, c))
	}
	to.grid.Push(1)
	to.markRows(toPos)
	r.location = locate(to.grid.Chunks()[toPos].First, toRow)
	a.removeRow(pos, row)
	a.w.epoch++
	return nil
}
