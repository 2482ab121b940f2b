package ecs

import (
	"slices"
	"unsafe"

	"quarry/asm"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/world"
)

// View lists: View.List makes a view of each entity of a list. Where the rows of an entity lie is
// looked up once for all fields, by the column addresses of its row block, so archetypes may change
// from one entity to the next. In a world larger than the cache the lines of the values are
// prefetched, and before them the records of the entities that follow, as GetList does for one type
// (ecs/internal/world/lookupmany.go).

const (
	listBlock = 16                   // entities whose lines are asked for at once
	listLines = listBlock * listEach // addresses
	listEach  = 8                    // the most lines of an entity; further ones are not asked for
)

// List appends to dst the result of Get for each entity, and returns the extended dst. An entity
// that is not alive or lacks a component that is not optional gives the zero V, all of whose slices
// are empty. Entities may repeat: they share their values. As after Get, each slice has one
// element, written components are marked changed, and all of it is valid until the next structural
// change.
//
// When List returns, the lines of the values are being prefetched: look up some hundred entities
// and then use them, rather than a million at once.
//
// List panics like Get, also for an entity of another world; then entities before it may have been
// marked. It allocates only if the capacity of dst is too small. Cost: for a component, what
// GetList takes.
func (v *View[V]) List(dst []V, entities []Entity) []V {
	v.check("View.List")
	w := v.q.core.World
	w.CheckHandle("View.List")
	if len(w.Loops.Borrows) > 0 {
		checkFieldsLent("View.List", v.fields)
	}
	from := len(dst)
	dst = slices.Grow(dst, len(entities))[:from+len(entities)]
	into := dst[from:]
	clear(into)
	l := lister{w: w, fields: v.fields, far: isFar(v.fields)}
	ids := idsOf(entities)
	for len(ids) > 0 {
		n := min(len(ids), listBlock)
		l.askRecords(ids[n:])
		for i, e := range ids[:n] {
			l.fill(unsafe.Pointer(&into[i]), e) // Safe because the fields are those of V, and into outlives the call.
		}
		l.askValues()
		ids, into = ids[n:], into[n:]
	}
	return dst
}

// lister fills views of single entities, without the type of the view.
type lister struct {
	w      *world.World
	fields []field
	far    bool // lines are asked for
	n      int  // lines
	lines  [listLines]uintptr
}

// isFar reports whether the values of a field's type exceed the cache.
func isFar(fields []field) bool {
	return slices.ContainsFunc(fields, func(f field) bool { return f.t != nil && f.t.IsFar() })
}

// askRecords prefetches the records of the entities that come next.
func (l *lister) askRecords(next []entity.ID) {
	if !l.far {
		return
	}
	n, view := min(len(next), listBlock), l.w.IDs.View()
	for i, e := range next[:n] {
		l.lines[i] = uintptr(unsafe.Pointer(view.Record(e))) // Safe because the address is only a number.
	}
	asm.Prefetch(l.lines[:n])
}

// askValues prefetches the values that fill has found.
func (l *lister) askValues() {
	if l.far {
		asm.Prefetch(l.lines[:l.n])
	}
	l.n = 0
}

// fill sets the fields of a zero struct at m to an entity's row, unless it lacks one.
func (l *lister) fill(m unsafe.Pointer, e entity.ID) {
	w := l.w
	r := w.Find(e)
	if r == nil {
		w.CheckWorld("View.List", e)
		return
	}
	at := r.Location
	for i := range l.fields {
		if f := &l.fields[i]; f.t != nil && !f.optional && !f.columnAt(at).Has(at) {
			return
		}
	}
	for i := range l.fields {
		f := &l.fields[i]
		if f.kind == fieldEntities {
			// Safe because the field is a []Entity, and the row's id is in the entity column.
			*(*sliceHeader)(f.in(m)) = sliceHeader{unsafe.Pointer(table.IDAt(w.Tables.OwnerOf(at).RowAt(at))), 1, 1}
			continue
		}
		if c := f.columnAt(at); c.Has(at) {
			l.fillField(f, f.in(m), c, c.ValueAt(at), at)
		}
	}
}

// columnAt returns the column address of the field's type in the row block of a location.
func (f *field) columnAt(at entity.Location) *entity.ColumnAddress {
	return f.t.OwnerLookup().TableOrNil().ColumnAt(at)
}

// fillField sets one field to the value at p, at a location in the row block of c.
func (l *lister) fillField(f *field, to unsafe.Pointer, c *entity.ColumnAddress, p unsafe.Pointer, at entity.Location) {
	w := l.w
	if f.write && f.kind != fieldBits { // a BitsW marks what it switches
		if f.t.NeedsBarrier() {
			o := w.Tables.OwnerOf(at)
			w.ArchetypeAt(o).Open(nil, f.t, o.Pos(), o.Row(at), 1)
		} else {
			*c.Mark() = w.Tables.Version
		}
	}
	switch f.kind {
	case fieldColumn:
		*(*sliceHeader)(to) = sliceHeader{p, 1, 1} // Safe because W and R are slices of the column's type.
	case fieldBuffers:
		// Safe because BufferW and BufferR are one.
		*(*buffers)(to) = buffers{p, f.t.OwnerLookup(), 1, w.Writer.Epoch, f.write, false}
	case fieldBits:
		bits := c.Bits()
		if !f.write {
			*(*enableBits)(to) = enableBits{bits.Words(), bits.Row(at), 1} // Safe because Bits is one.
			return
		}
		o := w.Tables.OwnerOf(at)
		a := archetypeFrom(w.ArchetypeAt(o))
		place, _ := f.placeIn(a)
		// Safe because BitsW is a switches.
		*(*switches)(to) = switches{bits, bits.Row(at), 1, a, place.Slot(), o.Pos(), f.t.OwnerLookup(), w.Writer.Epoch}
		return
	}
	l.ask(uintptr(p), uintptr(f.t.Size))
}

// ask notes the lines of a value, the first and the last.
func (l *lister) ask(p, size uintptr) {
	if l.n+2 > len(l.lines) || size == 0 {
		return
	}
	l.lines[l.n] = p
	l.n++
	if last := p + size - 1; (p^last)/64 != 0 {
		l.lines[l.n] = last
		l.n++
	}
}
