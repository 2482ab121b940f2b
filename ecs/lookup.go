package ecs

import (
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/sparse"
	"quarry/ecs/internal/world"
)

// Lookup finds the components of any entity, for a goroutine of a borrow. It is a value: create one
// where it is needed, and use it until the borrow ends.
type Lookup[T any] struct{ lookup }

// lookup has the methods of a Lookup and a BufferLookup that do not depend on T: those are compiled
// once.
type lookup struct{ f *world.Lookup }

// Lookup returns a Lookup for an accessor's goroutine. It panics unless the type is among the
// borrow's uses, or the borrow's query reads it and does not write it; this is checked only here.
// Cost: a few nanoseconds.
func (c Component[T]) Lookup(r *Accessor) Lookup[T] {
	return Lookup[T]{lookup{query.Lookup(c.t, "Component.Lookup", r.inner())}}
}

// Get returns e's component for reading, or nil if e is not alive or does not have it.
func (l Lookup[T]) Get(e Entity) *T {
	p, _ := l.f.LookUp(world.OpLookupGet, entity.ID(e))
	return (*T)(p) // Safe because find returns the address of a T, or nil.
}

// Has reports whether e is alive and has the component, enabled or disabled.
func (l lookup) Has(e Entity) bool {
	p, _ := l.f.LookUp(world.OpLookupHas, entity.ID(e))
	return p != nil
}

// Mut is Get for writing: it also marks the component changed in e's chunk. It panics unless the
// borrow declares Write of the component among its uses. Goroutines that write the component of one
// entity at the same time race.
func (l Lookup[T]) Mut(e Entity) *T {
	// Safe because MutLent returns the address of a T, or nil.
	return (*T)(l.f.MutLent(world.OpLookupMut, entity.ID(e)))
}

// Set writes e's component; see Mut. It returns false if e is not alive or does not have the
// component.
func (l Lookup[T]) Set(e Entity, v T) bool {
	p := (*T)(l.f.MutLent(world.OpLookupSet, entity.ID(e))) // Safe because MutLent returns the address of a T, or nil.
	if p == nil {
		return false
	}
	*p = v
	return true
}

// Enabled reports whether e is alive and has the component, enabled.
func (l lookup) Enabled(e Entity) bool { return l.f.Enabled("Lookup.Enabled", entity.ID(e)) }

// Enable enables e's component; see Component.Enable and Mut.
func (l lookup) Enable(e Entity) bool { return l.f.Toggle("Lookup.Enable", entity.ID(e), true) }

// Disable disables e's component; see Component.Disable and Mut.
func (l lookup) Disable(e Entity) bool { return l.f.Toggle("Lookup.Disable", entity.ID(e), false) }

// BufferLookup finds the buffers of any entity, and their enable bits, for a goroutine of a borrow;
// see Lookup.
type BufferLookup[T any] struct{ lookup }

// Lookup returns a BufferLookup for an accessor's goroutine; see Component.Lookup.
func (b Buffer[T]) Lookup(r *Accessor) BufferLookup[T] {
	return BufferLookup[T]{lookup{query.Lookup(b.t, "Buffer.Lookup", r.inner())}}
}

// Get returns e's buffer for reading, and false if e is not alive or has no buffer.
func (l BufferLookup[T]) Get(e Entity) (DynamicBuffer[T], bool) {
	v, ok := l.f.OpenLent(world.OpBufferLookupGet, entity.ID(e), false)
	return DynamicBuffer[T]{array{v}}, ok
}

// Mut is Get for writing; see Lookup.Mut.
func (l BufferLookup[T]) Mut(e Entity) (DynamicBuffer[T], bool) {
	v, ok := l.f.OpenLent(world.OpBufferLookupMut, entity.ID(e), true)
	return DynamicBuffer[T]{array{v}}, ok
}

// SparseLookup finds the values of a sparse type of any entity, for a goroutine of a borrow; see
// Lookup.
type SparseLookup[T any] struct{ sparseLookup }

// sparseLookup has the methods of a SparseLookup that do not depend on T.
type sparseLookup struct{ f *world.Lookup }

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
