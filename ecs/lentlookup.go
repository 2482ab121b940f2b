package ecs

import (
	"fmt"
	"unsafe"
)

// Lookup finds the components of any entity, for a goroutine of a borrow. It is a value: create one
// where it is needed, and use it until the borrow ends.
type Lookup[T any] struct{ lookup }

// lookup has the methods of a Lookup and a BufferLookup that do not depend on T: those are compiled
// once.
type lookup struct{ f *finder }

// Lookup returns a Lookup for an accessor's goroutine. It panics unless the type is among the
// borrow's uses, or the borrow's query reads it and does not write it; this is checked only here.
// Cost: a few nanoseconds.
func (c Component[T]) Lookup(r *Accessor) Lookup[T] {
	return Lookup[T]{lookup{c.t.lookup("Component.Lookup", r)}}
}

// lookup returns the type's finder for the look-ups of an accessor.
func (t *typeInfo) lookup(op string, r *Accessor) *finder {
	if t == nil {
		t.world().refuse(op)
	}
	r.check(op)
	b := r.b
	switch write := b.access.writes.Has(t.id); {
	case t.w != b.w:
		// errors.md, Types, terms and handles: `belong to different worlds`, `is of another world`
		// | Rows, a query or a borrow of another world. | Handles are of one world; register there.
		panic(fmt.Sprintf("ecs: %s: %s and %s belong to different worlds", op, t.name, b.name))
	case b.used.Has(t.id), !write && b.q.declares(t.id):
	case write: // look-ups would see rows that others are writing
		// errors.md, Borrows: `rows of others may be being written` | A look-up of a type that the
		// job's query writes. | Let a job of its own look the type up, before or after this one; or
		// name it in no term of the query with access, and write by look-ups only, declared by
		// `Exclusive`.
		panic(fmt.Sprintf("ecs: %s: %v of %s writes %s: rows of others may be being written", op, b.q, b.name, t.name))
	default:
		// errors.md, Borrows: `does not use ...: declare it` | A look-up of a type that the borrow
		// or job does not name. | `Job.Uses(ecs.Read(health))`.
		panic(fmt.Sprintf("ecs: %s: %s does not use %s: declare it", op, b.name, t.name))
	}
	return b.finderOf(t)
}

// Get returns e's component for reading, or nil if e is not alive or does not have it.
func (l Lookup[T]) Get(e Entity) *T {
	p, _ := l.f.find(opLookupGet, e)
	return (*T)(p) // Safe because find returns the address of a T, or nil.
}

// Has reports whether e is alive and has the component, enabled or disabled.
func (l lookup) Has(e Entity) bool {
	p, _ := l.f.find(opLookupHas, e)
	return p != nil
}

// Mut is Get for writing: it also marks the component changed in e's chunk. It panics unless the
// borrow declares Write of the component among its uses. Goroutines that write the component of one
// entity at the same time race.
func (l Lookup[T]) Mut(e Entity) *T {
	return (*T)(l.f.mutLent(opLookupMut, e)) // Safe because mutLent returns the address of a T, or nil.
}

// Set writes e's component; see Mut. It returns false if e is not alive or does not have the
// component.
func (l Lookup[T]) Set(e Entity, v T) bool {
	p := (*T)(l.f.mutLent(opLookupSet, e)) // Safe because mutLent returns the address of a T, or nil.
	if p == nil {
		return false
	}
	*p = v
	return true
}

// Enabled reports whether e is alive and has the component, enabled.
func (l lookup) Enabled(e Entity) bool { return l.f.enabled("Lookup.Enabled", e) }

// Enable enables e's component; see Component.Enable and Mut.
func (l lookup) Enable(e Entity) bool { return l.f.toggle("Lookup.Enable", e, true) }

// Disable disables e's component; see Component.Disable and Mut.
func (l lookup) Disable(e Entity) bool { return l.f.toggle("Lookup.Disable", e, false) }

// BufferLookup finds the buffers of any entity, and their enable bits, for a goroutine of a borrow;
// see Lookup.
type BufferLookup[T any] struct{ lookup }

// Lookup returns a BufferLookup for an accessor's goroutine; see Component.Lookup.
func (b Buffer[T]) Lookup(r *Accessor) BufferLookup[T] {
	return BufferLookup[T]{lookup{b.t.lookup("Buffer.Lookup", r)}}
}

// Get returns e's buffer for reading, and false if e is not alive or has no buffer.
func (l BufferLookup[T]) Get(e Entity) (DynamicBuffer[T], bool) {
	v, ok := l.f.openLent(opBufferLookupGet, e, false)
	return DynamicBuffer[T]{array{v}}, ok
}

// Mut is Get for writing; see Lookup.Mut.
func (l BufferLookup[T]) Mut(e Entity) (DynamicBuffer[T], bool) {
	v, ok := l.f.openLent(opBufferLookupMut, e, true)
	return DynamicBuffer[T]{array{v}}, ok
}

// mutLent is mut for a goroutine of a borrow.
func (f *finder) mutLent(op lookupOp, e Entity) unsafe.Pointer {
	if f == nil || !f.writes {
		f.known(op.String())
		f.checkWrite(op.String())
	}
	p, at := f.find(op, e)
	if p != nil {
		f.touchAt(at)
	}
	return p
}

// openLent is open for a goroutine of a borrow.
func (f *finder) openLent(op lookupOp, e Entity, write bool) (b rawBuffer, ok bool) {
	var p unsafe.Pointer
	if write {
		p = f.mutLent(op, e)
	} else {
		p, _ = f.find(op, e)
	}
	return f.buffer(p, write)
}
