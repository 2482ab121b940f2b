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
		w.freeSpill(bufferAt(unsafe.Add(w.chunk(a.chunks[pos]), c.offset), row, c.size))
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
// is told, and gives the last chunk back when it is empty.
func (a *Archetype) removeRow(pos, row int) {
	w := a.w
	lastPos := len(a.chunks) - 1
	lastRow := a.count - 1 - lastPos*a.plan.Rows
	last := w.chunk(a.chunks[lastPos])
	if pos != lastPos || row != lastRow {
		hole := w.chunk(a.chunks[pos])
		moved := entities(last, lastRow+1)[lastRow]
		entities(hole, row+1)[row] = moved
		w.records.at(moved.ref & indexMask).location = locate(uint32(a.chunks[pos]), row)
		for i := range a.columns {
			c := &a.columns[i]
			// Safe because both rows lie inside the column.
			copyElement(
				unsafe.Add(hole, uintptr(c.offset)+uintptr(row)*uintptr(c.size)),
				unsafe.Add(last, uintptr(c.offset)+uintptr(lastRow)*uintptr(c.size)), c.size)
		}
		for _, slot := range a.toggling {
			a.setBit(slot, pos, row, a.bit(slot, lastPos, lastRow))
		}
		a.markRows(pos)
	}
	for _, slot := range a.toggling {
		a.setBit(slot, lastPos, lastRow, false)
	}
	if debug.On {
		a.poisonRow(last, lastRow)
	}
	a.count--
	if lastRow == 0 {
		a.shrink(lastPos)
	}
}

// poisonRow fills a row that holds nothing any more, so that a stale pointer to
// it shows.
func (a *Archetype) poisonRow(base unsafe.Pointer, row int) {
	for _, c := range a.columns {
		// Safe because the row lies inside the column.
		p := unsafe.Add(base, uintptr(c.offset)+uintptr(row)*uintptr(c.size))
		debug.Poison(unsafe.Slice((*byte)(p), c.size), debug.Freed)
	}
}

// copyElement copies one element of a column.
func copyElement(to, from unsafe.Pointer, size uint32) {
	switch size {
	case 16:
		// Safe because columns start on cache lines, so elements of 8 and 16
		// bytes are aligned for words.
		*(*[2]uint64)(to) = *(*[2]uint64)(from)
	case 8:
		*(*uint64)(to) = *(*uint64)(from)
	default:
		// Safe because both elements lie inside their columns.
		copy(unsafe.Slice((*byte)(to), size), unsafe.Slice((*byte)(from), size))
	}
}
