package ecs

import (
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/entity"
	kinds "quarry/ecs/internal/value"
)

// What rows own outside their chunks: the blocks of buffers that have spilled, and the values
// of managed types. It ends with the row, and a copy of the row has a copy of it. Links stand
// there too.

// release frees what n rows have outside the chunk by an owning column: the blocks of
// buffers that have spilled, the values of a managed type. What the rows say of it is void then.
func (w *World) release(at alloc.GridRow, c column, n int) {
	if c.Size < kinds.HeaderSize { // too small for a buffer
		w.types.list[c.Key].managed.Release(slotsAt(at, c, n))
		return
	}
	w.buffers.FreeRows(at, c, n)
}

// freeBuffers frees what all buffers have spilled. What the heap still holds after
// it has leaked.
func (w *World) freeBuffers() {
	if w.buffers.Live() == 0 {
		return
	}
	for _, a := range w.archetypes.list {
		for _, c := range a.table.Buffers() {
			for pos := range a.table.Grid.Chunks() {
				w.buffers.FreeRows(a.table.Grid.Row(pos, 0), c, a.table.Grid.RowsOf(pos))
			}
		}
	}
}

// linked returns the values of a row whose links count: a component's is the one at p, a
// buffer's are its elements, and a managed type's is in its store.
func (t *typeInfo) linked(p unsafe.Pointer) (first unsafe.Pointer, n int) {
	switch {
	case t.buffer:
		h := (*kinds.Header)(p) // Safe because a buffer's column holds headers.
		return t.spill.Elements(h), h.Len()
	case t.managed != nil:
		s := *(*kinds.Slot)(p) // Safe because a managed type's column holds slots.
		return t.managed.At(s), int(min(s, 1))
	}
	return p, 1
}

// eachLink calls visit for the links of some rows. It is one call a link, so it serves what
// rewrites all links of an archetype: moving and cloning worlds.
func (rows span) eachLink(visit func(*Entity)) {
	a := rows.a
	for _, c := range a.table.Grid.Columns() {
		t := a.w.types.list[c.Key]
		if len(t.links) == 0 {
			continue
		}
		pos, row := a.table.Grid.Find(rows.start)
		for left := rows.n; left > 0; pos, row = pos+1, 0 {
			k := min(left, a.table.Grid.RowsOf(pos)-row)
			at := a.table.Grid.Row(pos, row)
			for range k {
				first, n := t.linked(at.Element(c.Offset, c.Size))
				eachEntity(t.links, first, n, uintptr(t.shape.Element), visit)
				at.Row++
			}
			left -= k
		}
	}
}

// copyOwned gives the rows what those of from, which they are copies of, have outside their
// chunks, and makes them name entities of their world. On an error the rows are sound, and
// some of their buffers empty.
func (a *Archetype) copyOwned(from *Archetype) error {
	w := a.w
	for _, c := range a.table.Buffers() {
		if err := a.copySpills(from, c); err != nil {
			return err
		}
	}
	span{a, 0, a.table.Len()}.eachLink(func(e *Entity) {
		if *e != Null && entity.ID(*e).Is(from.w.ids.Tag()) {
			*e = e.in(w.ids.Tag())
		}
	})
	return nil
}

// copySpills gives the buffers of a column, in the order of rows, copies of the blocks that those
// of from have.
func (a *Archetype) copySpills(from *Archetype, c column) error {
	t := a.w.types.list[c.Key]
	pos, row := 0, 0 // in a, whose chunks may be others
	for fromPos := range from.table.Grid.Chunks() {
		source := from.table.Grid.Row(fromPos, 0)
		for source.Row = range from.table.Grid.RowsOf(fromPos) {
			if row == a.table.Grid.RowsOf(pos) {
				pos, row = pos+1, 0
			}
			row++
			old := kinds.HeaderOf(source, c)
			if !old.Spilled() {
				continue
			}
			next, err := t.spill.Take(&t.shape, old.Len())
			if err != nil {
				return bufferLimit(err)
			}
			copy(t.spill.Bytes(&next, &t.shape, 0, old.Len()), from.w.buffers.Own().Bytes(old, &t.shape, 0, old.Len()))
			*kinds.HeaderOf(a.table.Grid.Row(pos, row-1), c) = next
		}
	}
	return nil
}

// dropSpills makes those of n buffers empty whose elements are in another world's heap.
func (a *Archetype) dropSpills(at alloc.GridRow, b column, n int) {
	for range n {
		if h := kinds.HeaderOf(at, b); h.Spilled() {
			*h = kinds.Header{}
		}
		at.Row++
	}
}
