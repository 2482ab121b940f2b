package ecs

import (
	"fmt"
	"reflect"
	"unsafe"

	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// Managed is the handle of a managed type: a component of any Go type, including pointers, strings,
// maps and interfaces. The values lie in Go memory; the chunk holds a 4-byte slot per row that
// locates the value. Archetypes, changes and terms therefore take a Managed like a component, and
// no structural change moves a value. A *T is valid until its entity loses the component. The value
// is then zeroed for the garbage collector, and its slot is reused. After World.SwapComponents a *T
// is the value of the other entity.
//
// An entity that gets the component by any other call than Managed.Add has no value at first. Get
// returns nil until the first Mut or Set creates a zero value.
//
// All methods belong to the world's owner: one goroutine at a time.
type Managed[T any] struct {
	enableHandle
	store *value.Store[T]
}

// RegisterManaged registers T as a managed type of w; see Register. A T that is also registered as
// a component is a separate type there. The options are Enableable, Cleanup, TrackRows, MaxRows,
// CopyWith, without which the values are not in snapshots, and Codec, for world files.
func RegisterManaged[T any](w *World, options ...TypeOption) Managed[T] {
	t := reflect.TypeFor[T]()
	info := &world.Type{Go: t, Name: "managed " + world.ShortName(t), Kind: KindManaged, Managed: value.NewStore[T](),
		Lookup: world.Lookup{Size: int(unsafe.Sizeof(value.Slot(0)))}, Align: int(unsafe.Alignof(value.Slot(0)))}
	applyOptions(info, "RegisterManaged", options)
	registered := w.inner().Register("RegisterManaged", info)
	return Managed[T]{enableHandle{handle{registered}}, registered.Managed.(*value.Store[T])}
}

// Get returns e's value for reading, or nil if e is not alive, does not have the component, or has
// no value yet. Has reports whether e has the component. Get changes nothing, so goroutines that
// share the world may call it.
func (m Managed[T]) Get(e Entity) *T {
	p, _ := m.t.OwnerLookup().LookUp(world.OpManagedGet, entity.ID(e))
	if p == nil {
		return nil
	}
	return m.store.Get(*(*value.Slot)(p)) // Safe because a managed type's column holds slots.
}

// Mut returns e's value for writing, and creates a zero value if there is none. It returns nil if e
// is not alive or does not have the component. It marks the component changed in e's chunk. Cost:
// as Component.Mut, plus one allocation per page of new values.
func (m Managed[T]) Mut(e Entity) *T { return m.made(world.OpManagedMut, e) }

func (m Managed[T]) made(op world.LookupOp, e Entity) *T {
	p := (*value.Slot)(m.t.Mut(op, entity.ID(e))) // Safe because a managed type's column holds slots.
	if p == nil {
		return nil
	}
	if *p == 0 {
		m.t.CheckMaking(op.String())
	}
	return m.store.Make(p)
}

// Set writes e's value and marks the component changed. It returns false if e is not alive or does
// not have the component.
func (m Managed[T]) Set(e Entity, v T) bool {
	p := m.made(world.OpManagedSet, e)
	if p != nil {
		*p = v
	}
	return p != nil
}

// Add gives e the component with value v. It returns false and keeps the old value if e already has
// the component. It panics like Component.Add.
func (m Managed[T]) Add(e Entity, v T) bool {
	return m.begin(edit.Add(m.t, "Managed.Add", entity.ID(e)), v)
}

// begin creates the value of a row that has just received the component. p is the row's slot, or
// nil if no row received it.
func (m Managed[T]) begin(p unsafe.Pointer, v T) bool {
	if p == nil {
		return false
	}
	at := (*value.Slot)(p) // Safe because add returns the place of a slot.
	*at = 0                // the slot's previous content belonged to another row
	*m.store.Make(at) = v
	return true
}

// At returns the value of the i'th row of rows. If the query declares Write or the rows come from a
// Batch, the value is for writing: At creates it if there is none, and marks the component changed.
// Otherwise the value is for reading, and nil if there is none. At panics like Component.Slice, if
// i is not in [0, rows.Len()), and if the chunk lacks an Optional component; see In. In the rows of
// a snapshot it returns the snapshot's copy, which is for reading and valid until the snapshot is
// closed or renewed, and panics for a type without CopyWith.
func (m Managed[T]) At(rows Rows, i int) *T {
	column := rows.core.ColumnFor(m.t, "Managed.At", i, 1)
	if uint(i) >= uint(rows.Len()) || column == nil {
		rows.core.NoRow(m.t, i)
	}
	p := element[value.Slot](column, rows.core.Scan.First+i)
	if b := rows.core.Scan.Borrow; b != nil && b.Past {
		return b.LeaseOrNil().ManagedOf("Managed.At", m.t).(*value.Store[T]).Get(*p)
	}
	if *p == 0 && rows.core.Scan.Binding.ColumnOf(m.t.ID).Flags()&(world.MayWrite|world.BarrierWrite) != 0 {
		if rows.core.Scan.Borrow != nil {
			m.t.RefuseMaking(rows.core.Scan.Borrow.LeaseOrNil())
		}
		m.t.CheckMaking("Managed.At")
		return m.store.Make(p)
	}
	return m.store.Get(*p)
}

// CopyWith is the option of a managed type by which snapshots have its values: f returns a copy of
// a value that shares nothing with it that anyone writes, such as a map or the elements of a slice.
// World.Snapshot and Snapshot.Renew call f once for each value of the type, whether it was written
// since the last snapshot or not; World.Restore, Snapshot.Fork and World.Clone once for each value
// too. So a snapshot costs time and Go memory for all values, unlike for bytes in chunks, of which
// only those are copied that are written. World.Instantiate and moves of entities do not call f:
// they assign.
//
// f must not change from and makes no structural change of the world, which refuses it. If f
// panics, the call that needed it changes nothing and the panic goes through; a snapshot that was
// being renewed is closed.
//
// CopyWith panics if f is nil, and RegisterManaged if f is of another type. A type that is
// registered again keeps its first function. Without CopyWith, readers of snapshots, World.Restore
// and Snapshot.Fork refuse the type by name.
func CopyWith[T any](f func(from *T) T) TypeOption {
	if f == nil {
		panic("ecs: CopyWith: the function is nil")
	}
	return func(r *registration) {
		t := r.inner()
		switch of := reflect.TypeFor[T](); {
		case t.Kind != KindManaged:
			panic(fmt.Sprintf("ecs: Register[%s]: CopyWith is an option of RegisterManaged", t.Name))
		case of != t.Go:
			panic(fmt.Sprintf("ecs: RegisterManaged[%s]: CopyWith is of %s",
				world.ShortName(t.Go), world.ShortName(of)))
		}
		t.Managed.(*value.Store[T]).CopyWith(f)
	}
}
