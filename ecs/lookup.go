package ecs

import (
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/snapshot"
	"quarry/ecs/internal/world"
)

// A lookup finds the values of any entity for goroutines that are not the owner: in what a job
// borrows, or in a snapshot.

// Readable is what a look-up reads: an *Accessor, the world as a job borrows it, or a *Snapshot.
type Readable interface {
	// lookup returns the look-up of a type; op is the function that asks.
	lookup(t *world.Type, op string) *world.Lookup
}

func (r *Accessor) lookup(t *world.Type, op string) *world.Lookup {
	return query.Lookup(t, op, r.inner())
}

func (s *Snapshot) lookup(t *world.Type, op string) *world.Lookup {
	f := snapshot.LookupIn(t, op, s.inner())
	if t.Kind == KindManaged {
		s.inner().ManagedOf(op, t)
	}
	return f
}

// lookupOf returns the look-up of a type in an accessor or a snapshot.
func lookupOf(t *world.Type, op string, in Readable) lookup {
	if in == nil {
		panic("ecs: " + op + ": the accessor or snapshot is nil")
	}
	f := in.lookup(t, op)
	return lookup{f, t.Kind}
}

// Lookup finds the values of any entity, for a goroutine of a borrow or for readers of a snapshot.
// It is a value: create one where it is needed, and use it until the borrow ends or the snapshot is
// closed.
type Lookup[T any] struct{ lookup }

// lookup has the methods of a Lookup and a BufferLookup that do not depend on T: those are compiled
// once.
type lookup struct {
	f    *world.Lookup
	kind Kind
}

// Lookup returns a Lookup in an accessor or a snapshot. In an accessor it is for the accessor's
// goroutine, and it panics unless the type is among the borrow's uses, or the borrow's query reads
// it and does not write it; this is checked only here.
//
// In a snapshot it finds the component as it was. Any goroutine may use it until the snapshot is
// closed. A look-up copies 16 KiB of records, those of 2,048 ids, where no look-up has before it.
// Lookup panics like Snapshot.Rows, and so does a look-up that must copy; look-ups that write
// panic. Cost: some ten nanoseconds.
func (c Component[T]) Lookup(in Readable) Lookup[T] {
	return Lookup[T]{lookupOf(c.t, "Component.Lookup", in)}
}

// Lookup returns a Lookup in an accessor or a snapshot; see Component.Lookup.
func (s Sparse[T]) Lookup(in Readable) Lookup[T] {
	return Lookup[T]{lookupOf(s.t, "Sparse.Lookup", in)}
}

// Lookup returns a Lookup in an accessor or a snapshot; see Component.Lookup. In a snapshot it
// finds the copies of the values, which are valid until the snapshot is closed or renewed, and
// Lookup panics for a type without CopyWith.
func (m Managed[T]) Lookup(in Readable) Lookup[T] {
	return Lookup[T]{lookupOf(m.t, "Managed.Lookup", in)}
}

// Get returns e's value for reading, or nil if e is not alive or does not have the type, or if a
// managed type has no value yet.
func (l Lookup[T]) Get(e Entity) *T {
	// Safe because it is the address of a T, or nil.
	return (*T)(l.f.LookUpValue(l.kind, world.OpLookupGet, entity.ID(e)))
}

// Mut is Get for writing: it also marks the value changed, of a component in e's chunk. It makes no
// value of a managed type. It panics unless the borrow declares Write of the type among its uses.
// Goroutines that write the value of one entity at the same time race.
func (l Lookup[T]) Mut(e Entity) *T {
	// Safe because it is the address of a T, or nil.
	return (*T)(l.f.MutLentValue(l.kind, world.OpLookupMut, entity.ID(e)))
}

// Has reports whether e is alive and has the type, enabled or disabled.
func (l lookup) Has(e Entity) bool {
	if l.kind == KindSparse {
		return l.f.Entry("Lookup.Has", entity.ID(e), false) != 0
	}
	p, _ := l.f.LookUp(world.OpLookupHas, entity.ID(e))
	return p != nil
}

// Enabled reports whether e is alive and has the type, enabled.
func (l lookup) Enabled(e Entity) bool {
	if l.kind == KindSparse {
		at := l.f.Entry("Lookup.Enabled", entity.ID(e), false)
		return at != 0 && l.f.Type.Sparse.Enabled(at)
	}
	return l.f.Enabled("Lookup.Enabled", entity.ID(e))
}

// Enable enables e's value; see Component.Enable and Mut.
func (l lookup) Enable(e Entity) bool { return l.toggle("Lookup.Enable", e, true) }

// Disable disables e's value; see Component.Disable and Mut.
func (l lookup) Disable(e Entity) bool { return l.toggle("Lookup.Disable", e, false) }

func (l lookup) toggle(op string, e Entity, on bool) bool {
	if l.kind != KindSparse {
		return l.f.Toggle(op, entity.ID(e), on)
	}
	l.f.Known(op).CheckEnableable(op)
	at := l.f.Entry(op, entity.ID(e), true)
	if at != 0 {
		l.f.Type.Sparse.Switch(at, on)
	}
	return at != 0
}

// ChangedSince is Component.ChangedSince, and Sparse.Changed of a sparse type.
func (l lookup) ChangedSince(e Entity, since uint32) bool {
	const op = "Lookup.ChangedSince"
	if l.kind == KindSparse {
		at := l.f.Entry(op, entity.ID(e), false)
		return at != 0 && l.f.Type.Sparse.Newer(at, since)
	}
	return query.ChangedSince(l.f, op, entity.ID(e), since)
}

// BufferLookup finds the buffers of any entity, and their enable bits; see Lookup.
type BufferLookup[T any] struct{ lookup }

// Lookup returns a BufferLookup in an accessor or a snapshot; see Component.Lookup.
func (b Buffer[T]) Lookup(in Readable) BufferLookup[T] {
	return BufferLookup[T]{lookupOf(b.t, "Buffer.Lookup", in)}
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
