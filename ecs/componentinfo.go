package ecs

import (
	"fmt"
	"reflect"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
)

// ComponentInfo describes a registered type to generic code, such as printers, editors and
// exporters.
type ComponentInfo struct {
	Type       Type         // a handle without the Go type, for queries, archetypes, changes and Rows.Value
	Name       string       // for people: Position, []Hit for a buffer, managed Conn; not unique
	Go         reflect.Type // of a value, or of an element of a buffer; Kind and Go name one type
	Kind       Kind
	Enableable bool // registered with Enableable
	Cleanup    bool // registered with Cleanup
	TrackRows  bool // registered with TrackRows
	MaxRows    int  // of MaxRows; 0 without it
}

// InfoOf describes the type of a handle. It panics for nil and for a zero handle.
func InfoOf(t Type) ComponentInfo {
	info := infoOf("InfoOf", t)
	if info == nil {
		panic("ecs: InfoOf: " + unmade["Component"])
	}
	return info.describe()
}

func (t *typeInfo) describe() ComponentInfo {
	return ComponentInfo{Type: t.handle(), Name: t.name, Go: t.rtype, Kind: t.kind,
		Enableable: t.enableable, Cleanup: t.cleanup, TrackRows: t.tracked, MaxRows: t.maxRows}
}

// Components returns the types of the world in order of registration. The built-in types come
// first: DisabledEntity, Prefab, CleanupEntity and LinkedEntity.
func (w *World) Components() []ComponentInfo {
	all := make([]ComponentInfo, len(w.types.list))
	for i, t := range w.types.list {
		all[i] = t.describe()
	}
	return all
}

// Components returns the types of the archetype in order of registration.
func (a *Archetype) Components() []ComponentInfo {
	types := a.now().table.Types
	all := make([]ComponentInfo, len(types))
	for i, id := range types {
		all[i] = a.w.types.list[id].describe()
	}
	return all
}

// Archetypes returns the archetypes of the world that have rows, in order of creation.
func (w *World) Archetypes() []*Archetype {
	var all []*Archetype
	for _, a := range w.archetypes.list {
		if a.table.Store.Len() > 0 {
			all = append(all, a)
		}
	}
	return all
}

// NewQueryOfAll creates a query that matches all entities, including disabled entities and prefabs,
// and reads all types that the world has at the call. It serves code that walks a world without
// knowing its types. Close it like any other query.
//
//	for rows := range all.Rows() {
//		for i, e := range rows.Entities() {
//			for _, c := range rows.Archetype().Components() {
//				fmt.Println(e, c.Name, rows.Value(c.Type, i))
//			}
//		}
//	}
func NewQueryOfAll(w *World) *Query {
	w.checkNew("NewQueryOfAll")
	w.checkUnshared("NewQueryOfAll")
	terms := []Term{IncludeDisabled(), IncludePrefabs()}
	for _, t := range w.types.list {
		if t.place() != perArchetype {
			terms = append(terms, Optional(Read(t.handle())))
		}
	}
	q := NewQuery(w, terms...)
	q.ofAll = true
	return q
}

// Value returns a copy of the i'th row's value of a type, as a Go value of that type, or as a slice
// for a buffer. The copy may be kept. Value returns nil if the rows lack the type, and if a managed
// type has no value yet, or no CopyWith in the rows of a snapshot. The query must declare the type,
// unless it is shared. Value panics like Component.Slice, and if i is not in [0, rows.Len()). Cost:
// reflection, and an allocation for all but small values; it is meant for printers, not for loops
// over many rows.
func (r Rows) Value(t Type, i int) any {
	const op = "Rows.Value"
	info, s := infoOf(op, t), r.check(op)
	if info == nil || s.w != info.w {
		r.refuse(info, op)
	}
	if uint(i) >= uint(r.Len()) {
		panic(fmt.Sprintf("ecs: Rows.Value: row %d is not in [0, %d)", i, r.Len()))
	}
	switch info.kind {
	case KindShared:
		if v := s.t.a.valueOf(info.id); v != nil {
			return v.Any()
		}
		return nil
	case KindSparse:
		set, ids := r.sparse(info, op)
		if at := set.At(ids[i]); at != nil {
			return info.valueAt(at)
		}
		return nil
	}
	p, ok := r.placeOf(info, op)
	if !ok {
		return nil
	}
	if info.kind == KindChunk {
		return info.valueAt(s.t.a.table.Books.Value(p.Slot(), s.pos))
	}
	// Safe because row i has a value of size bytes in the column at p.
	at := unsafe.Add(r.columnTo(info, p), (s.first+i)*info.size)
	if info.kind == KindManaged && s.b != nil && s.b.past != nil {
		if !info.copies() {
			return nil // a snapshot does not have it
		}
		info = s.b.finderOf(info).t // whose store is the snapshot's
	}
	return info.valueAt(at)
}

// Value returns e's value of a type as Rows.Value does: a copy, nil where e is not alive or does
// not have it, and where a managed type has no value yet. It panics for an entity or a type of
// another world, and for a type that a job or borrow is writing. Cost: reflection, and an
// allocation for all but small values.
func (w *World) Value(e Entity, t Type) any {
	const op = "World.Value"
	info := infoOf(op, t)
	w.checkHandle(op)
	w.checkOwn(op, info)
	r := w.recordOf(op, e)
	if r == nil {
		return nil
	}
	if info.kind != KindShared {
		info.checkRead(op)
	}
	return w.valueOf(r, e, info)
}

// valueOf returns the value of a type of an entity with a record.
func (w *World) valueOf(r *entity.Record, e Entity, info *typeInfo) any {
	if info.kind == KindShared {
		if v := w.archetypeAt(w.tables.OwnerOf(r.Location)).valueOf(info.id); v != nil {
			return v.Any()
		}
		return nil
	}
	if info.kind == KindSparse {
		if at := info.sparse.At(entity.ID(e)); at != nil {
			return info.valueAt(at)
		}
		return nil
	}
	p, at := info.own().find(opHas, e)
	if p == nil {
		return nil
	}
	if info.kind == KindChunk {
		p = info.valueOf(at)
	}
	return info.valueAt(p)
}

// valueAt returns a copy of the value at the type's place in a row, which is a header of a buffer
// and a slot of a managed type.
func (t *typeInfo) valueAt(at unsafe.Pointer) any {
	switch t.kind {
	case KindBuffer:
		return t.elements((*value.Header)(at)) // Safe because a buffer's column has headers.
	case KindManaged:
		if at = t.managed.At(*(*value.Slot)(at)); at == nil { // Safe because a managed type's column has slots.
			return nil
		}
	}
	return reflect.NewAt(t.rtype, at).Elem().Interface()
}

// elements returns a copy of a buffer's elements, as a slice of their type.
func (t *typeInfo) elements(h *value.Header) any {
	n := h.Len()
	all := reflect.MakeSlice(reflect.SliceOf(t.rtype), n, n)
	if bytes := n * t.shape.Element; bytes > 0 {
		// Safe because both have n elements, which hold no Go pointers.
		value.Move(unsafe.Slice((*byte)(all.UnsafePointer()), bytes), unsafe.Slice((*byte)(t.spill.Elements(h)), bytes))
	}
	return all.Interface()
}

// Bytes returns the rows' values of a component as bytes, for reading, InfoOf(t).Go.Size() bytes
// per row. It returns nil for a tag, and if the rows lack the type. The bytes are valid as long as
// a slice from Component.Slice. Bytes panics like Component.Slice, and for a type of another kind,
// whose column does not hold values.
func (r Rows) Bytes(t Type) []byte {
	const op = "Rows.Bytes"
	info, s := infoOf(op, t), r.check(op)
	if info == nil || s.w != info.w {
		r.refuse(info, op)
	}
	if info.kind != KindComponent {
		// errors.md, Loops and rows: `... is a ... type, whose values are not in the column; use
		// Rows.Value` | `Rows.Bytes` of a buffer, a shared or a managed type. | `Rows.Value`, or
		// the handle of the type.
		panic(fmt.Sprintf("ecs: Rows.Bytes: %s is a %v type, whose values are not in the column; use Rows.Value", info.name, info.kind))
	}
	p, ok := r.placeOf(info, op)
	if !ok || info.size == 0 {
		return nil
	}
	at := unsafe.Add(r.columnTo(info, p), s.first*info.size) // Safe because the column has Len values from row first on.
	return unsafe.Slice((*byte)(at), r.Len()*info.size)
}
