package ecs

import (
	"unsafe"

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
	a, pos, row := w.rowOf(r)
	for _, c := range a.buffers {
		// Safe because c is a column of this chunk.
		w.freeSpill(bufferAt(unsafe.Add(w.chunk(a.grid.Chunks()[pos]), c.Offset), row, c.Size))
	}
	a.removeRow(pos, row)
	w.records.give(e.ref&indexMask, r)
	w.destroyed++
	w.epoch++
	return true
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

// rowOf returns where a record's entity is.
func (w *World) rowOf(r *record) (a *Archetype, pos, row int) {
	chunk := r.location.chunk()
	o := w.owners[chunk/alloc.ChunksPerMegachunk][chunk%alloc.ChunksPerMegachunk]
	return w.archetypes[o.archetype-1], int(o.pos), r.location.row()
}

// removeRow closes the gap at a row with the archetype's last row, whose entity
// is told, and lets the last chunk go when it is empty.
func (a *Archetype) removeRow(pos, row int) {
	w, chunks := a.w, a.grid.Chunks()
	lastPos, lastRow := a.grid.Last()
	last := w.chunk(chunks[lastPos])
	if pos != lastPos || row != lastRow {
		hole := w.chunk(chunks[pos])
		moved := entities(last, lastRow+1)[lastRow]
		entities(hole, row+1)[row] = moved
		w.records.at(moved.ref & indexMask).location = locate(uint32(chunks[pos]), row)
		a.grid.FillGap(hole, last, row, lastRow)
		for _, slot := range a.toggling {
			a.setBit(slot, pos, row, a.bit(slot, lastPos, lastRow))
		}
		a.markRows(pos)
	}
	for _, slot := range a.toggling {
		a.setBit(slot, lastPos, lastRow, false)
	}
	if debug.On {
		a.grid.PoisonRow(last, lastRow)
	}
	if lastRow == 0 {
		a.leave(lastPos)
	}
	a.grid.Pop(lastRow)
}
