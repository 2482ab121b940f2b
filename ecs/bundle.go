package ecs

import (
	"reflect"
	"slices"
	"unsafe"

	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
	"quarry/internal/store"
)

// Bundle creates, reads and writes entities as a struct of component values. The exported fields of
// S are components, each at most once; []E for a buffer of E; pointers to either for optional
// parts; and structs of such fields. A bundle belongs to the world's owner.
type Bundle[S any] struct {
	w          *World
	fields     []field               // components, then buffers
	values     int                   // number of fields that are components
	options    []int                 // indices of the optional fields
	archetypes map[uint64]*Archetype // by the set of optional fields that are present
	last       *Archetype            // archetype of lastSet; nil if none was requested yet
	lastSet    uint64
}

// maxOptions is the maximum number of optional fields of a bundle: the bits of a word.
const maxOptions = 64

// NewBundle creates the bundle of S. It registers no types. It panics for a field that is no
// component or buffer of w, with the path of the field, and with a *LimitError for more than 64
// pointers. Reflection happens here; create bundles once.
func NewBundle[S any](w *World) *Bundle[S] {
	t := reflect.TypeFor[S]()
	op := "NewBundle[" + world.ShortName(t) + "]"
	w.inner().CheckNew(op)
	r := fieldReader{w: w, op: op}
	r.walk(t, 0, t.Name(), r.bundleField)
	slices.SortStableFunc(r.fields, func(f, g field) int { return int(f.kind) - int(g.kind) }) // buffers last
	b := &Bundle[S]{w: w, fields: r.fields, archetypes: map[uint64]*Archetype{}}
	b.values = len(b.fields)
	for i, f := range b.fields {
		if f.kind == fieldElements {
			b.values = min(b.values, i)
		}
		if f.optional {
			b.options = append(b.options, i)
		}
	}
	if len(b.options) > maxOptions {
		panic(&LimitError{Op: op, Limit: "optional fields", Max: maxOptions})
	}
	return b
}

func (b *Bundle[S]) check(op string) {
	if b == nil || b.w == nil {
		panic("ecs: " + op + ": the bundle is nil or the zero value; bundles come from NewBundle")
	}
}

// Create creates an entity with the values of s. The entity has an optional component if its
// pointer is not nil; the pointer may come from Component.Get. Buffers hold copies of the slices; a
// nil slice becomes an empty buffer. Create panics inside a loop over rows, and with a *LimitError
// if there is no room.
func (b *Bundle[S]) Create(s S) Entity {
	e, err := b.create(s)
	if err != nil {
		panic(err)
	}
	return e
}

// create returns the error instead; no entity is created then.
func (b *Bundle[S]) create(s S) (Entity, error) {
	b.check("Bundle.Create")
	w := b.w
	w.inner().CheckUnlocked("Bundle.Create")
	p := unsafe.Pointer(&s) // Safe because the fields are those of S.
	set := uint64(0)
	for i, at := range b.options {
		if *(*unsafe.Pointer)(b.fields[at].in(p)) != nil { // Safe because an optional field is a pointer.
			set |= 1 << i
		}
	}
	a := b.last
	if a == nil || set != b.lastSet {
		var err error
		if a, err = b.archetypeOf(set); err != nil {
			return Null, world.WithOp("Bundle.Create", err)
		}
	}
	elements := b.fields[b.values:]
	if (set != 0 || len(elements) > 0) && (w.core.IDs.Free() == 0 || a.core.Table.Store.Full()) {
		copyOptions(p, b.fields[:b.values]) // the pointers may lead into a chunk that making room frees
		copyElements(p, elements)
	}
	made, err := edit.TryCreate(a.inner())
	if err != nil {
		return Null, err
	}
	e := Entity(made)
	at := a.core.Table.Store.LastRow()
	write(p, b.fields[:b.values], a, at)
	if len(elements) > 0 {
		if err := makeRoom("Bundle.Create", p, elements, a, at); err != nil {
			r := w.inner().Find(entity.ID(e))
			// Its Cleanup types have nothing to wait for.
			w.core.Writer.EndOne(&a.core.Table.Table, entity.ID(e), r, w.core.Tables.OwnerOf(r.Location))
			return Null, err
		}
		writeElements(p, elements, a, at)
	}
	return e, nil
}

// archetypeOf returns the archetype of the required fields and the optional fields in set.
//
//go:noinline
func (b *Bundle[S]) archetypeOf(set uint64) (*Archetype, error) {
	a := b.archetypes[set]
	if a == nil {
		var sig world.Signature
		for i := range b.fields {
			if !b.fields[i].optional {
				sig.Add(b.fields[i].t.ID)
			}
		}
		for i, at := range b.options {
			if set>>i&1 != 0 {
				sig.Add(b.fields[at].t.ID)
			}
		}
		core, err := b.w.inner().ArchetypeOf(sig, nil)
		if err != nil {
			return nil, err
		}
		a = archetypeFrom(core)
		a.core.Pinned = true // the bundle keeps it
		b.archetypes[set] = a
	}
	b.last, b.lastSet = a, set
	return a, nil
}

// Get returns a copy of e's values. A pointer is nil if e lacks the component; otherwise it points
// to a copy in Go memory. Slices are copies in Go memory, too. Each copy costs one or two
// allocations; an empty buffer costs none and yields a nil slice. ok is false if e is not alive or
// lacks a component that is not optional.
func (b *Bundle[S]) Get(e Entity) (s S, ok bool) {
	b.check("Bundle.Get")
	r := b.w.inner().RecordOf("Bundle.Get", entity.ID(e))
	if r == nil {
		return s, false
	}
	if len(b.w.core.Loops.Borrows) > 0 {
		checkFieldsLent("Bundle.Get", b.fields)
	}
	a, _, at := b.w.inner().RowOf(r)
	if !archetypeFrom(a).hasFields(b.fields) {
		return s, false
	}
	p := unsafe.Pointer(&s) // Safe because the fields are those of S.
	read(p, b.fields[:b.values], archetypeFrom(a), at)
	readElements(p, b.fields[b.values:], archetypeFrom(a), at)
	return s, true
}

// Set writes e's values and marks them changed. A slice replaces the contents of its buffer; a nil
// pointer leaves e's component unchanged. Set returns false and writes nothing if e is not alive or
// lacks a component that s has. It panics while the world is lent, and with a *LimitError if
// there is no room for a buffer.
func (b *Bundle[S]) Set(e Entity, s S) bool {
	ok, err := b.set(e, s)
	if err != nil {
		panic(err)
	}
	return ok
}

// set returns the error instead; nothing is written then.
func (b *Bundle[S]) set(e Entity, s S) (bool, error) {
	b.check("Bundle.Set")
	w := b.w
	r := w.inner().RecordOf("Bundle.Set", entity.ID(e))
	if r == nil {
		return false, nil
	}
	w.inner().RefuseShared("Bundle.Set")
	if len(w.core.Loops.Borrows) > 0 {
		b.checkSet(&s)
	}
	a, pos, at := w.inner().RowOf(r)
	p := unsafe.Pointer(&s) // Safe because the fields are those of S.
	for i := range b.fields {
		f := &b.fields[i]
		if _, ok := f.placeIn(archetypeFrom(a)); !ok && f.valueIn(p) != nil {
			return false, nil
		}
	}
	if w.inner().Keeps() {
		b.keep(&s, archetypeFrom(a), pos, at.Row)
	}
	if err := makeRoom("Bundle.Set", p, b.fields[b.values:], archetypeFrom(a), at); err != nil {
		return false, err
	}
	for i := range b.fields {
		f := &b.fields[i]
		if place, _ := f.placeIn(archetypeFrom(a)); f.valueIn(p) != nil {
			a.Table.Metadata.Touch(place.Slot(), pos, at.Row, 1, w.core.Tables.Version)
		}
	}
	write(p, b.fields[:b.values], archetypeFrom(a), at)
	writeElements(p, b.fields[b.values:], archetypeFrom(a), at)
	return true, nil
}

// keep has what Set writes to a row kept for snapshots.
func (b *Bundle[S]) keep(s *S, a *Archetype, pos, row int) {
	for i := range b.fields {
		// Safe because the fields are those of S.
		if f := &b.fields[i]; f.valueIn(unsafe.Pointer(s)) != nil {
			a.inner().Keep(nil, f.t, pos, row, 1)
		}
	}
}

// checkSet panics if a borrow forbids writing a component that s has.
func (b *Bundle[S]) checkSet(s *S) {
	for i := range b.fields {
		// Safe because the fields are those of S.
		if f := &b.fields[i]; f.valueIn(unsafe.Pointer(s)) != nil {
			f.t.CheckLent("Bundle.Set", world.MayWrite)
		}
	}
}

// write copies the values that a struct has into a row of an archetype that has their types.
func write(s unsafe.Pointer, fields []field, a *Archetype, at store.Row) {
	for i := range fields {
		f := &fields[i]
		if from := f.valueIn(s); from != nil {
			f.move(at.Element(a.core.Table.Places[f.t.ID].Offset, uint32(f.t.Size)), from)
		}
	}
}

// read fills a zero struct from a row.
func read(s unsafe.Pointer, fields []field, a *Archetype, at store.Row) {
	for i := range fields {
		f := &fields[i]
		p, ok := f.placeIn(a)
		if !ok {
			continue
		}
		to := f.in(s)
		if f.optional {
			fresh := reflect.New(f.t.Go).UnsafePointer()
			*(*unsafe.Pointer)(to) = fresh // Safe because an optional field is a pointer to the type.
			to = fresh
		}
		f.move(to, at.Element(p.Offset, uint32(f.t.Size)))
	}
}

// copyOptions replaces the struct's pointers by pointers to copies in Go memory.
func copyOptions(s unsafe.Pointer, fields []field) {
	for i := range fields {
		f := &fields[i]
		if from := f.valueIn(s); f.optional && from != nil {
			fresh := reflect.New(f.t.Go).UnsafePointer()
			f.move(fresh, from)
			*(*unsafe.Pointer)(f.in(s)) = fresh // Safe because an optional field is a pointer to the type.
		}
	}
}

// move copies a value of the field's type. Source and target may be the same. Most values have 16
// bytes, for which a call to copy would cost more than the move.
func (f *field) move(to, from unsafe.Pointer) {
	if f.t.Size == 16 {
		*(*[16]byte)(to) = *(*[16]byte)(from) // Safe because both are values of the type, which has no pointers.
		return
	}
	n := f.t.Size
	// Safe because both are values of the type, which has no pointers.
	copy(unsafe.Slice((*byte)(to), n), unsafe.Slice((*byte)(from), n))
}
