package ecs

import (
	"fmt"
	"iter"
	"reflect"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/world"
	"quarry/internal/store"
)

// View is a query that yields its rows as a struct. V has exported fields of the types W, R,
// BufferW, BufferR, Bits, BitsW and []Entity, and structs of such fields. Each component may appear
// once, and once more as Bits or BitsW. A field with the tag `ecs:"optional"` is empty in chunks
// without the type. A view belongs to the world's owner, as its query does. Bodies of jobs over its
// query may call At.
type View[V any] struct {
	ready  query.Ready // the first field, see Cursor
	q      *Query
	fields []field
	shown  []field // the fields without write, if a Cursor may keep them ready
}

// NewView creates the view of V: a query for the components of V's fields, narrowed by the given
// terms. It registers no types. It panics for a field of any other type, with the path of the
// field, and as NewQuery does. Reflection happens only here; create views once, like queries.
func NewView[V any](w *World, terms ...Term) *View[V] {
	t := reflect.TypeFor[V]()
	op := "NewView[" + world.ShortName(t) + "]"
	w.inner().CheckNew(op)
	r := fieldReader{w: w, op: op}
	r.walk(t, 0, t.Name(), r.viewField)
	all := make([]Term, 0, len(r.fields)+len(terms))
	for _, f := range r.fields {
		if f.t != nil && (f.kind != fieldBits || !r.seen.Has(f.t.ID)) {
			all = append(all, r.term(f))
		}
	}
	v := &View[V]{q: NewQuery(w, append(all, terms...)...), fields: r.fields}
	v.ready, v.shown = readyOf(v.q, r.fields)
	v.ready.Make, v.ready.Fill, v.ready.FillNext = v.makeReady, v.fillReady, v.fillNext
	return v
}

// term returns the term that a field, together with its Bits field if it has one, adds to the
// query.
func (r *fieldReader) term(f field) Term {
	t := Read(handle{f.t})
	if f.write || r.switched.Has(f.t.ID) {
		t = Write(handle{f.t})
	}
	if f.optional {
		return Optional(t)
	}
	if r.bits.Has(f.t.ID) {
		return Present(t)
	}
	return t
}

func (v *View[V]) check(op string) {
	if v == nil || v.q == nil {
		panic("ecs: " + op + ": the view is nil or the zero value; views come from NewView")
	}
}

// Query returns the view's query, for counting, for closing, and for loops by Borrow.Rows, whose
// rows At accepts.
func (v *View[V]) Query() *Query {
	v.check("View.Query")
	return v.q
}

// Rows yields the same rows as Query.Rows, each with the result of At. Use rows.Each to find the
// rows of a chunk that match.
func (v *View[V]) Rows() iter.Seq2[Rows, V] {
	v.check("View.Rows")
	return func(yield func(Rows, V) bool) {
		for rows := range v.q.Rows() {
			if !yield(rows, v.At(rows)) {
				return
			}
		}
	}
}

// At returns the rows as a V; each of its slices is as long as the rows. The slices are valid as
// long as one from Component.Slice. Written columns are marked changed; columns that are only read
// are not. The rows may come from another query or a batch; At then panics as Component.Slice does
// if the rows do not declare the types of V. Cost: a few nanoseconds per field, no allocation.
func (v *View[V]) At(rows Rows) (m V) {
	v.check("View.At")
	s := rows.core.Check("View.At")
	if q := v.q.inner(); s.Query != q && (s.Borrow == nil || s.Borrow.Query != q) {
		rows.checkFields(v.fields)
	}
	p := unsafe.Pointer(&m) // Safe because the fields are those of V, and m outlives the call.
	fill(p, v.fields, archetypeFrom(s.Binding.Archetype), s.Pos,
		store.Row{Base: rows.core.Base, Scale: s.Scale, Row: s.First}, rows.Len(), borrowFrom(s.Borrow))
	return m
}

// Get returns one entity as a V, with slices of length 1. ok is false if e is not alive or lacks a
// component that is not optional; the view's other terms are not checked. Written components are
// marked changed. Get panics for a V with written components while the world is lent.
func (v *View[V]) Get(e Entity) (m V, ok bool) {
	v.check("View.Get")
	w := v.q.core.World
	r := w.RecordOf("View.Get", entity.ID(e))
	if r == nil {
		return m, false
	}
	a, pos, at := w.RowOf(r)
	if !archetypeFrom(a).hasFields(v.fields) {
		return m, false
	}
	if len(w.Loops.Borrows) > 0 {
		checkFieldsLent("View.Get", v.fields)
	}
	// Safe because the fields are those of V, and m outlives the call.
	fill(unsafe.Pointer(&m), v.fields, archetypeFrom(a), pos, at, 1, nil)
	return m, true
}

// hasFields reports whether the archetype has the types of all fields that are not optional.
func (a *Archetype) hasFields(fields []field) bool {
	for i := range fields {
		f := &fields[i]
		if f.t == nil || f.optional {
			continue
		}
		if _, ok := f.placeIn(a); !ok {
			return false
		}
	}
	return true
}

// checkFieldsLent panics if a borrow forbids access to a field's type.
func checkFieldsLent(op string, fields []field) {
	for i := range fields {
		f := &fields[i]
		switch {
		case f.t == nil:
		case f.write:
			f.t.CheckLent(op, world.MayWrite)
		default:
			f.t.CheckLent(op, world.MayRead)
		}
	}
}

// checkFields panics unless the query of the rows declares the types of the fields.
//
//go:noinline
func (r Rows) checkFields(fields []field) {
	for i := range fields {
		f := &fields[i]
		if f.t == nil {
			continue
		}
		batch := f.t.World == r.core.Scan.World && r.core.Scan.Query == query.BatchesOf(r.core.Scan.World)
		if _, has := f.placeIn(archetypeFrom(r.core.Scan.Binding.Archetype)); batch && f.optional && !has {
			continue
		}
		if p, ok := r.core.PlaceOf(f.t, "View.At"); ok && f.write &&
			p.Flags()&(world.MayWrite|world.BarrierWrite) == 0 {
			r.core.Refuse(f.t, "View.At")
		} else if !ok && !f.optional {
			panic(fmt.Sprintf("ecs: View.At: %v has no %s, which is not optional in the view",
				r.core.Scan.Binding.Archetype, f.t.Name))
		}
	}
}

// sliceHeader is the memory layout of a slice.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

// fill sets the fields of a zero struct at m to n rows of a chunk, from at on, for the world's
// owner or for a borrow.
func fill(m unsafe.Pointer, fields []field, a *Archetype, pos int, at store.Row, n int, b *Borrow) {
	w, changed := a.core.World, a.core.Table.Metadata.Versions(pos)
	for i := range fields {
		f := &fields[i]
		to := f.in(m)
		if f.kind == fieldEntities {
			// Safe because the field is a []Entity, and the entity column has n rows from at on.
			*(*sliceHeader)(to) = sliceHeader{unsafe.Pointer(table.IDAt(at)), n, n}
			continue
		}
		p, ok := f.placeIn(a)
		if !ok { // an optional type that the archetype lacks: the field stays empty
			continue
		}
		switch {
		case f.kind == fieldBits: // a BitsW marks what it switches
		case f.write && f.t.NeedsBarrier():
			a.inner().OpenView(b.inner().LeaseOrNil(), f.t, pos, at.Row, n)
		case f.write && b != nil:
			b.inner().Mark(&changed[p.Slot()])
		case f.write:
			changed[p.Slot()] = w.Tables.Version
		}
		if b != nil && f.kind != fieldBits {
			a.inner().Load(f.t.ID, pos, at.Row, n)
		}
		first := at.Element(p.Offset, uint32(f.t.Size))
		switch f.kind {
		case fieldColumn:
			*(*sliceHeader)(to) = sliceHeader{first, n, n} // Safe because W and R are slices of the column's type.
		case fieldBuffers:
			// Safe because BufferW and BufferR are one.
			*(*buffers)(to) = buffers{first, b.inner().LookupOf(f.t), n, w.Writer.Epoch, f.write, f.write && w.Keeps()}
		case fieldBits:
			bits := a.core.Table.Metadata.Bits(p.Slot(), pos)
			if !f.write {
				*(*enableBits)(to) = enableBits{bits.Words(), at.Row, n} // Safe because Bits is one.
				continue
			}
			// Safe because BitsW is a switches.
			*(*switches)(to) = switches{bits, at.Row, n, a, p.Slot(), pos, b.inner().LookupOf(f.t), w.Writer.Epoch}
		}
	}
}
