package ecs

import (
	"fmt"
	"reflect"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
)

// ComponentInfo describes a registered type to generic code, such as printers, editors and
// exporters.
type ComponentInfo struct {
	Type       Type         // a handle without the Go type, for queries, archetypes, changes and Rows.Value
	Name       string       // for people: Position, []Hit for a buffer, managed Conn; not unique
	Go         reflect.Type // of a value, or of an element of a buffer; Kind and Go name one type
	Kind       Kind
	Enableable bool // registered with Enableable
}

// InfoOf describes the type of a handle. It panics for nil and for a zero handle.
func InfoOf(t Type) ComponentInfo {
	info := infoOf("InfoOf", t)
	if info == nil {
		panic("ecs: InfoOf: " + world.Unmade["Component"])
	}
	return describe(info)
}

func describe(t *world.Type) ComponentInfo {
	return ComponentInfo{Type: handleOf(t), Name: t.Name, Go: t.Go, Kind: t.Kind,
		Enableable: t.Enableable}
}

// Components returns the types of the world in order of registration. The built-in types come
// first: DisabledEntity, Prefab, CleanupEntity and LinkedEntity.
func (w *World) Components() []ComponentInfo {
	all := make([]ComponentInfo, len(w.core.Types.List))
	for i, t := range w.core.Types.List {
		all[i] = describe(t)
	}
	return all
}

// Components returns the types of the archetype in order of registration.
func (a *Archetype) Components() []ComponentInfo {
	types := a.inner().CurrentOrNil().Table.Types
	all := make([]ComponentInfo, len(types))
	for i, id := range types {
		all[i] = describe(a.core.World.Types.List[id])
	}
	return all
}

// Archetypes returns the archetypes of the world that have rows, in order of creation.
func (w *World) Archetypes() []*Archetype {
	var all []*Archetype
	for _, a := range w.core.Archetypes.List {
		if a.Table.Store.Len() > 0 {
			all = append(all, archetypeFrom(a))
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
	w.inner().CheckNew("NewQueryOfAll")
	w.inner().CheckNotLent("NewQueryOfAll")
	terms := []Term{IncludeDisabled(), IncludePrefabs()}
	for _, t := range w.core.Types.List {
		if t.Place() != world.PerArchetype {
			terms = append(terms, Optional(Read(handleOf(t))))
		}
	}
	q := NewQuery(w, terms...)
	q.core.OfAll = true
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
	info, s := infoOf(op, t), r.core.Check(op)
	if info == nil || s.World != info.World {
		r.core.Refuse(info, op)
	}
	if uint(i) >= uint(r.Len()) {
		panic(fmt.Sprintf("ecs: Rows.Value: row %d is not in [0, %d)", i, r.Len()))
	}
	switch info.Kind {
	case KindShared:
		if v := s.Binding.Archetype.ValueOf(info.ID); v != nil {
			return v.Any()
		}
		return nil
	case KindSparse:
		set, ids := r.core.Sparse(info, op)
		if at := set.At(ids[i]); at != nil {
			return info.ValueAt(at)
		}
		return nil
	}
	p, ok := r.core.PlaceOf(info, op)
	if !ok {
		return nil
	}
	if info.Kind == KindChunk {
		return info.ValueAt(s.Binding.Archetype.Table.Metadata.Value(p.Slot(), s.Pos))
	}
	// Safe because row i has a value of size bytes in the column at p.
	at := unsafe.Add(r.core.ColumnTo(info, p), (s.First+i)*info.Size)
	if info.Kind == KindManaged && s.Borrow != nil && s.Borrow.Past {
		if !info.Copies() {
			return nil // a snapshot does not have it
		}
		info = s.Borrow.LeaseOrNil().LookupOf(info).Type // whose store is the snapshot's
	}
	return info.ValueAt(at)
}

// Value returns e's value of a type as Rows.Value does: a copy, nil where e is not alive or does
// not have it, and where a managed type has no value yet. It panics for an entity or a type of
// another world, and for a type that a job or borrow is writing. Cost: reflection, and an
// allocation for all but small values.
func (w *World) Value(e Entity, t Type) any {
	const op = "World.Value"
	info := infoOf(op, t)
	w.inner().CheckHandle(op)
	w.inner().CheckOwn(op, info)
	r := w.inner().RecordOf(op, entity.ID(e))
	if r == nil {
		return nil
	}
	if info.Kind != KindShared {
		info.CheckRead(op)
	}
	return w.inner().ValueOf(r, entity.ID(e), info)
}

// Bytes returns the rows' values of a component as bytes, for reading, InfoOf(t).Go.Size() bytes
// per row. It returns nil for a tag, and if the rows lack the type. The bytes are valid as long as
// a slice from Component.Slice. Bytes panics like Component.Slice, and for a type of another kind,
// whose column does not hold values.
func (r Rows) Bytes(t Type) []byte {
	const op = "Rows.Bytes"
	info, s := infoOf(op, t), r.core.Check(op)
	if info == nil || s.World != info.World {
		r.core.Refuse(info, op)
	}
	if info.Kind != KindComponent {
		panic(fmt.Sprintf("ecs: Rows.Bytes: %s is a %v type, whose values are not in the column; use Rows.Value",
			info.Name, info.Kind))
	}
	p, ok := r.core.PlaceOf(info, op)
	if !ok || info.Size == 0 {
		return nil
	}
	// Safe because the column has Len values from row first on.
	at := unsafe.Add(r.core.ColumnTo(info, p), s.First*info.Size)
	return unsafe.Slice((*byte)(at), r.Len()*info.Size)
}
