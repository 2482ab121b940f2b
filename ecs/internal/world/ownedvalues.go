package world

import (
	"unsafe"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
	"quarry/internal/store"
	"quarry/mmap"
)

// Data that rows own outside their chunks: the blocks of spilled buffers and the values of managed
// types (ecs/internal/value). Both end with the row, a copy of the row gets copies of both, and
// both may hold links.

// freeBuffers frees the blocks of all buffers. Blocks that the heap still holds afterwards have
// leaked. An error means that rows cannot be read, as where the file that a world was opened from
// has been cut: what leads to their blocks is lost.
func (w *World) freeBuffers() error {
	if w.Buffers.Live() == 0 {
		return nil
	}
	return mmap.Guarded(func() {
		for _, a := range w.Archetypes.List {
			for _, c := range a.Table.Buffers() {
				for pos := range a.Table.Store.Chunks() {
					w.Buffers.FreeRows(a.Table.Store.Row(pos, 0), c, a.Table.Store.RowsOf(pos))
				}
			}
		}
	})
}

// Linked returns the values in a row that may hold links: for a component the value at p, for a
// buffer its elements, for a managed type the value in its store.
func (t *Type) Linked(p unsafe.Pointer) (first unsafe.Pointer, n int) {
	switch t.Kind {
	case KindBuffer:
		h := (*value.Header)(p) // Safe because a buffer's column holds headers.
		return t.Spill.Elements(h), h.Len()
	case KindManaged:
		s := *(*value.Slot)(p) // Safe because a managed type's column holds slots.
		return t.Managed.At(s), int(min(s, 1))
	}
	return p, 1
}

// EachLink calls visit for each link in some rows. That is one call per link; it serves moves to
// another world, which rewrite all links.
func (w *World) EachLink(rows change.TableRange, visit func(*entity.ID)) {
	a := rows.Table
	for _, c := range a.Store.Columns() {
		t := w.Types.List[c.Key]
		if len(t.Links) == 0 {
			continue
		}
		pos, row := a.Store.Find(rows.Start)
		for left := rows.N; left > 0; pos, row = pos+1, 0 {
			k := min(left, a.Store.RowsOf(pos)-row)
			at := a.Store.Row(pos, row)
			for range k {
				first, n := t.Linked(at.Element(c.Offset, c.Size))
				EachEntity(t.Links, first, n, uintptr(t.Shape.Element), visit)
				at.Row++
			}
			left -= k
		}
	}
}

// CopySpills gives n buffers copies of the spilled blocks of another world; until then the buffers
// hold copies of the other world's headers. After an error, its own or the one passed in, the
// buffers that have no block yet are empty.
func (a *Archetype) CopySpills(from *World, at store.Row, c Column, n int, err error) error {
	t := a.World.Types.List[c.Key]
	first := at.Element(c.Offset, c.Size)
	for row := range n {
		h := value.HeaderAt(first, row, c.Size)
		if !h.Spilled() {
			continue
		}
		old := *h
		*h = value.Header{}
		if err != nil {
			continue
		}
		next, failed := t.Spill.Take(&t.Shape, old.Len())
		if failed != nil {
			err = LimitErrorOf(failed)
			continue
		}
		elements := t.Spill.Bytes(&next, &t.Shape, 0, old.Len())
		value.Move(elements, from.Buffers.OwnerSpill().Bytes(&old, &t.Shape, 0, old.Len()))
		// Safe because these are the elements.
		Retag(t.Links, unsafe.Pointer(unsafe.SliceData(elements)), old.Len(), uintptr(t.Shape.Element), from.IDs.Tag(),
			t.World.IDs.Tag())
		*h = next
	}
	return err
}

// Retag moves the entity values in n rows of a column from the world with tag from to the type's
// world. It skips the elements of spilled buffers, which CopySpills handles.
func (t *Type) Retag(first unsafe.Pointer, n int, from entity.Tag) {
	to := t.World.IDs.Tag()
	if t.Kind != KindBuffer && t.Kind != KindManaged {
		Retag(t.Links, first, n, uintptr(t.Size), from, to)
		return
	}
	for i := range n {
		row := unsafe.Add(first, i*t.Size)                          // Safe because the column has n rows.
		if t.Kind == KindBuffer && (*value.Header)(row).Spilled() { // Safe because a buffer's column holds headers.
			continue
		}
		values, k := t.Linked(row)
		Retag(t.Links, values, k, uintptr(t.Shape.Element), from, to)
	}
}
