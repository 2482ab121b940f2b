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
	err = w.move(r, a, pos, row, id)
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
	err = w.move(r, a, pos, row, id)
	return err == nil, err
}

// move takes a row to the archetype with id added or removed. Everything that
// can fail comes first; on an error nothing has changed.
func (w *World) move(r *record, a *Archetype, pos, row int, id typeID) error {
	before := len(w.archetypes)
	way, err := a.edgeTo(id)
	if err != nil {
		return err
	}
	to := way.to
	if to.grid.Room() == 0 {
		if err := to.grow(1); err != nil {
			if len(w.archetypes) > before {
				w.forget(to)
				a.edges = a.edges[:len(a.edges)-1]
			}
			return err
		}
	}
	toPos, toRow := to.grid.End()
	from, dest := a.grid.Row(pos, row), to.grid.Row(toPos, toRow)
	entities(dest.Base, toRow+1)[toRow] = entities(from.Base, row+1)[row]
	alloc.CopyRows(dest, from, 1, way.copies)
	alloc.ClearRows(dest, 1, way.fresh)
	for _, slot := range to.toggling {
		on := true
		if t := to.types[slot]; a.sig.has(t) {
			on = a.bit(a.place[t].slot, pos, row)
		}
		to.setBit(slot, toPos, toRow, on)
	}
	if a.sig.has(id) && w.types[id].buffer {
		w.freeSpill(headerAt(from, column{Offset: a.place[id].offset, Size: uint32(w.types[id].size)}))
	}
	to.grid.Push(1)
	to.markRows(toPos)
	r.location = locate(to.grid.Chunks()[toPos].First, toRow)
	a.removeRow(pos, row)
	w.epoch++
	return nil
}
