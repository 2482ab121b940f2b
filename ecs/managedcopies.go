package ecs

import (
	"fmt"
	"reflect"

	"quarry/ecs/internal/value"
)

// Copies of managed values. A snapshot has copies of the values of types with CopyWith, each in a
// store with the slots of then (value.Store.Save). Who calls the program's function, and what if it
// panics:
//
//	Snapshot, Renew   before a layer begins   there is no snapshot; one that was renewed is closed
//	Restore           before anything else    nothing has changed
//	Clone, Fork       before there are rows   the new world is closed
//
// While the function runs, the world refuses what a structural change refuses, and makes no managed
// values: they would have slots that the copy lacks.

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
		// errors.md, Types, terms and handles: `ecs: CopyWith: the function is nil` | The option
		// has no function. | Leave the option out; the values are not in snapshots then.
		panic("ecs: CopyWith: the function is nil")
	}
	return func(t *typeInfo) {
		switch of := reflect.TypeFor[T](); {
		case t.kind != KindManaged:
			// errors.md, Types, terms and handles: `CopyWith is an option of RegisterManaged` | The
			// values of other kinds are bytes, or are never written. | Leave it out.
			panic(fmt.Sprintf("ecs: Register[%s]: CopyWith is an option of RegisterManaged", t.name))
		case of != t.rtype:
			// errors.md, Types, terms and handles: `CopyWith is of` | The function copies values of
			// another type. | A function of the type's own values.
			panic(fmt.Sprintf("ecs: RegisterManaged[%s]: CopyWith is of %s", shortName(t.rtype), shortName(of)))
		}
		t.managed.(*value.Store[T]).CopyWith(f)
	}
}

// copies reports whether the type is a managed one with CopyWith.
func (t *typeInfo) copies() bool { return t.kind == KindManaged && t.managed.Copies() }

// managedCopies are copies of the values of managed types, by typeID; nil for other types.
type managedCopies []value.Managed

// of returns the copies of a type's values, or nil.
func (m managedCopies) of(t *typeInfo) value.Managed {
	if int(t.id) < len(m) {
		return m[t.id]
	}
	return nil
}

// room returns where copies of a type's values go.
func (m *managedCopies) room(t *typeInfo) value.Managed {
	for len(*m) <= int(t.id) {
		*m = append(*m, nil)
	}
	to := &(*m)[t.id]
	if *to == nil {
		*to = t.managed.Fresh()
	}
	return *to
}

// take copies the values of the world, or those of older copies. If a copy function panics, there
// are some copies, which the caller clears.
func (m *managedCopies) take(w *World, op string, older *managedCopies) {
	if len(w.types.copied) == 0 {
		return
	}
	w.loops.enter(op)
	defer w.loops.leave()
	for _, t := range w.types.copied {
		from := t.managed
		if older != nil {
			from = older.of(t)
		}
		if from != nil {
			from.Save(m.room(t))
		}
	}
}

// clear ends the copies and keeps their memory.
func (m managedCopies) clear() {
	for _, c := range m {
		if c != nil {
			c.Clear()
		}
	}
}

// copyManaged makes copies of another world's managed values, with the same slots, before there are
// rows.
func (w *World) copyManaged(op string, from *World) {
	if len(from.types.copied) == 0 {
		return
	}
	from.loops.enter(op)
	defer from.loops.leave()
	for _, t := range from.types.copied {
		t.managed.Save(w.types.list[t.id].managed)
	}
}

// managedOf returns the values that a managed type had in the snapshot. It panics for a type
// without CopyWith.
func (s *Snapshot) managedOf(op string, t *typeInfo) value.Managed {
	c := s.managed.of(t)
	if c == nil {
		// errors.md, Snapshots: `a snapshot has no values of ...: register it with ecs.CopyWith` |
		// A reader asks a snapshot for a value of a managed type without a copy function. |
		// `RegisterManaged` with `CopyWith`, or read the value from the world.
		panic(fmt.Sprintf("ecs: %s: a snapshot has no values of %s: register it with ecs.CopyWith", op, t.name))
	}
	return c
}

// refuseManaged returns an error if an archetype, which has rows, has a managed type without
// CopyWith.
func (a *Archetype) refuseManaged() error {
	for _, c := range a.table.Managed() {
		if t := a.w.types.list[c.Key]; !t.copies() {
			// errors.md, Errors: `... has rows with values of ..., which a snapshot does not have:
			// register it with ecs.CopyWith` | A snapshot has Go values only of managed types with
			// a copy function, so `World.Restore` and `Snapshot.Fork` cannot bring back those of
			// others. | `RegisterManaged` with `CopyWith`; or keep what must go back in components
			// and buffers, and rebuild the managed values from them.
			return fmt.Errorf("%v has rows with values of %s, which a snapshot does not have: register it with ecs.CopyWith", a, t.name)
		}
	}
	return nil
}

// restoreManaged puts the values of the snapshot back, of which the restore has copies. Those that
// came since end.
func (r *restoring) restoreManaged() {
	for _, t := range r.w.types.copied {
		if r.s.managed.of(t) != nil {
			t.managed.Restore(r.managed.of(t))
		} else {
			t.managed.Clear()
		}
	}
}

// ManagedLookup finds the values of a managed type in a snapshot, for any goroutine; see Lookup.
type ManagedLookup[T any] struct {
	lookup
	store *value.Store[T]
}

// LookupIn returns a ManagedLookup that finds the values as they were in a snapshot; see
// Component.LookupIn. It also panics for a type without CopyWith.
func (m Managed[T]) LookupIn(s *Snapshot) ManagedLookup[T] {
	const op = "Managed.LookupIn"
	f := m.t.lookupIn(op, s)
	return ManagedLookup[T]{lookup{f}, s.managedOf(op, m.t).(*value.Store[T])}
}

// Get returns e's value for reading, or nil if e was not alive, did not have the component, or had
// no value. It is the snapshot's copy, and valid until the snapshot is closed or renewed.
func (l ManagedLookup[T]) Get(e Entity) *T {
	p, _ := l.f.find(opManagedLookupGet, e)
	if p == nil {
		return nil
	}
	return l.store.Get(*(*value.Slot)(p)) // Safe because a managed type's column holds slots.
}
