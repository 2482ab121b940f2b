package ecs

import (
	"fmt"
	"reflect"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/snapshot"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

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
			panic(fmt.Sprintf("ecs: RegisterManaged[%s]: CopyWith is of %s", world.ShortName(t.Go), world.ShortName(of)))
		}
		t.Managed.(*value.Store[T]).CopyWith(f)
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
	f := snapshot.LookupIn(m.t, op, s.inner())
	return ManagedLookup[T]{lookup{f}, s.inner().ManagedOf(op, m.t).(*value.Store[T])}
}

// Get returns e's value for reading, or nil if e was not alive, did not have the component, or had
// no value. It is the snapshot's copy, and valid until the snapshot is closed or renewed.
func (l ManagedLookup[T]) Get(e Entity) *T {
	p, _ := l.f.LookUp(world.OpManagedLookupGet, entity.ID(e))
	if p == nil {
		return nil
	}
	return l.store.Get(*(*value.Slot)(p)) // Safe because a managed type's column holds slots.
}
