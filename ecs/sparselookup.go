package ecs

import (
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/sparse"
	"quarry/ecs/internal/world"
)

// SparseLookup finds the values of a sparse type of any entity, for a goroutine of a borrow; see
// Lookup.
type SparseLookup[T any] struct{ sparseLookup }

// sparseLookup has the methods of a SparseLookup that do not depend on T.
type sparseLookup struct{ f *world.Finder }

// Lookup returns a SparseLookup for an accessor's goroutine; see Component.Lookup.
func (s Sparse[T]) Lookup(r *Accessor) SparseLookup[T] {
	return SparseLookup[T]{sparseLookup{query.Lookup(s.t, "Sparse.Lookup", r.inner())}}
}

// Get returns e's value for reading, or nil if e is not alive or has none.
func (l SparseLookup[T]) Get(e Entity) *T {
	return (*T)(l.value("SparseLookup.Get", e, false)) // Safe because the set has values of T.
}

// Mut is Get for writing: it also marks the value changed. It panics unless the borrow declares
// Write of the type among its uses. Goroutines that write the value of one entity at the same time
// race.
func (l SparseLookup[T]) Mut(e Entity) *T {
	return (*T)(l.value("SparseLookup.Mut", e, true)) // Safe because the set has values of T.
}

// Has reports whether e is alive and has the type, enabled or disabled.
func (l sparseLookup) Has(e Entity) bool { return l.entry("SparseLookup.Has", e, false) != 0 }

// Enabled reports whether e is alive and has the type, enabled.
func (l sparseLookup) Enabled(e Entity) bool {
	at := l.entry("SparseLookup.Enabled", e, false)
	return at != 0 && l.f.Type.Sparse.Enabled(at)
}

// Enable enables e's value; see Sparse.Enable and Mut.
func (l sparseLookup) Enable(e Entity) bool { return l.toggle("SparseLookup.Enable", e, true) }

// Disable disables e's value; see Sparse.Disable and Mut.
func (l sparseLookup) Disable(e Entity) bool { return l.toggle("SparseLookup.Disable", e, false) }

// entry returns e's entry, or 0.
func (l sparseLookup) entry(op string, e Entity, write bool) sparse.Entry {
	f := l.f
	t := f.Known(op)
	if f.CheckRead(op); write {
		f.CheckLentWrite(op)
	}
	at := t.Sparse.Find(entity.ID(e))
	if at == 0 {
		t.World.CheckWorld(op, entity.ID(e))
	} else if write {
		t.Sparse.Mark(at, f.Lease.Version)
	}
	return at
}

func (l sparseLookup) value(op string, e Entity, write bool) unsafe.Pointer {
	if at := l.entry(op, e, write); at != 0 {
		return l.f.Type.Sparse.Value(at)
	}
	return nil
}

func (l sparseLookup) toggle(op string, e Entity, on bool) bool {
	l.f.Known(op).CheckEnableable(op)
	at := l.entry(op, e, true)
	if at != 0 {
		l.f.Type.Sparse.Switch(at, on)
	}
	return at != 0
}
