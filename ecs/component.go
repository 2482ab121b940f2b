package ecs

import (
	"reflect"
	"unsafe"

	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/world"
)

// Component is the handle of a component type. A type without fields is a tag: entities have it or
// not, and it takes no space.
//
// All methods belong to the world's owner: one goroutine at a time.
type Component[T any] struct{ handle }

// A Component of one type is compiled with the package, so that TestInlined of internal/lint sees
// its methods.
var _ Type = Component[DisabledEntity]{}

// Register registers T as a component type of w and returns its handle. A second call for the same
// type returns the same handle. Register panics if T holds a Go pointer, with the path to it, and
// if T was registered before with other options. It panics with a *LimitError for more than
// MaxTypes types, and for a type so large that a row with it does not fit in 16 KiB. Larger values
// can be the elements of a buffer, see RegisterBuffer.
func Register[T any](w *World, options ...TypeOption) Component[T] {
	info := world.ComponentOf(reflect.TypeFor[T]())
	applyOptions(info, "Register", options)
	return Component[T]{handle{w.inner().Register("Register", info)}}
}

// Get returns a pointer to e's component for reading, or nil if e is not alive or does not have it.
// The pointer is valid until the next structural change of the world. A loop over rows may look up
// any entity, whatever its query declares. For hundreds of entities in random order, GetList is
// faster.
func (c Component[T]) Get(e Entity) *T {
	// Safe because a Type begins with its Sight, which holds the addresses of Ts.
	return (*T)((*entity.Sight)(unsafe.Pointer(c.t)).At(entity.ID(e)))
}

// Mut is Get for writing: it also marks the component changed in e's chunk. The mark is set at the
// call, not when the caller writes through the pointer. A pointer kept past the end of a loop with
// Changed must be taken again before the next write.
func (c Component[T]) Mut(e Entity) *T {
	return (*T)(c.t.Mut(world.OpMut, entity.ID(e))) // Safe because mut returns the address of a T, or nil.
}

// Set writes e's component and marks it changed. It returns false if e is not alive or does not
// have the component.
func (c Component[T]) Set(e Entity, v T) bool {
	p := (*T)(c.t.Mut(world.OpSet, entity.ID(e))) // Safe because mut returns the address of a T, or nil.
	if p == nil {
		return false
	}
	*p = v
	return true
}

// Add adds the component with value v to e. It returns false and keeps the old value if e already
// has the component. It panics if e is not alive, and inside a loop over rows. It panics with a
// *LimitError if there is no room; the world is then unchanged. Cost: one move of e's row to
// another archetype.
func (c Component[T]) Add(e Entity, v T) bool {
	p := edit.Add(c.t, "Component.Add", entity.ID(e))
	if p == nil {
		return false
	}
	*(*T)(p) = v // Safe because add returns the place of a T.
	return true
}

// TryAdd is like Add but returns the *LimitError.
func (c Component[T]) TryAdd(e Entity, v T) (bool, error) {
	p, err := edit.TryAdd(c.t, "Component.Add", entity.ID(e))
	if p == nil {
		return false, err
	}
	*(*T)(p) = v // Safe because TryAdd returns the place of a T.
	return true, nil
}

// Slice returns the component's column for rows, one element per row, or nil if the chunk lacks an
// Optional type. If the query declares Write, or the rows come from a Batch, Slice marks the column
// changed. It panics for a type that the query does not declare, for rows of another world and for
// rows that are no longer current.
//
// The slice is valid until the next structural change. It includes rows that do not match the
// query, see Rows.Each. Nothing stops the caller from writing to a column declared with Read, but
// such a write is not recorded in any version.
func (c Component[T]) Slice(rows Rows) []T {
	return slice[T](rows.core.Scan, rows.core.Base, rows.core.Span, c.t)
}

// ReadOnly is like Slice but does not mark the column changed. It serves loops over a column that
// the query declares with Write but that the loop only reads, or writes so seldom that it calls
// Mark itself.
func (c Component[T]) ReadOnly(rows Rows) []T {
	p, ok := rows.core.PlaceOf(c.t, "Component.ReadOnly")
	if !ok {
		return nil
	}
	return sliceOf[T](rows, rows.core.ColumnTo(c.t, p))
}

// slice combines Rows.Column and sliceOf, because a loop over a single row costs little more than
// this call. Its arguments are single words: the compiler spills every pointer of a struct passed
// in registers to the stack.
func slice[T any](s *query.Scan, base unsafe.Pointer, span uint64, c *world.Type) []T {
	if s != nil && uint32(span) == s.Serial && c != nil && s.World == c.World {
		t := s.Binding
		if i := uint(c.ID) - t.Lowest; i < uint(len(t.Columns)) {
			p := t.Columns[i]
			if p.Flags()&world.MayWrite != 0 {
				*t.Archetype.Table.Books.Version(p.Slot(), s.Pos) = c.World.Tables.Version
			} else if p.Flags()&world.MayRead == 0 {
				goto missing
			}
			var v T
			at := uintptr(p.Offset)*s.Scale + uintptr(s.First)*unsafe.Sizeof(v)
			n := span >> (64 - query.SpanBits)
			// Safe because the column holds one T per row of the chunk, and the n rows from
			// the first on lie inside it, see sliceOf.
			return (*[query.MostRows]T)(unsafe.Add(base, at))[:n:n]
		}
	}
missing:
	return sliceMissing[T](Rows{core: query.Rows{Scan: s, Base: base, Span: span}}, c)
}

// sliceMissing handles the cases that slice does not expect, see Rows.Missing. It is a call, so
// slice keeps no registers for it.
//
//go:noinline
func sliceMissing[T any](rows Rows, c *world.Type) []T {
	if column := rows.core.Missing(c, "Component.Slice", 0, rows.Len()); column != nil {
		return sliceOf[T](rows, column)
	}
	return nil
}

// sliceOf returns a column's elements for the rows.
func sliceOf[T any](rows Rows, column unsafe.Pointer) []T {
	n := rows.Len()
	// Safe because the column holds one T per row of the chunk, and the n rows from the first on
	// lie inside it. Rows has at most MostRows rows, so this form of unsafe.Slice needs no check.
	return (*[query.MostRows]T)(unsafe.Pointer(element[T](column, rows.core.Scan.First)))[:n:n]
}

// element returns the given row's T in a column.
func element[T any](column unsafe.Pointer, row int) *T {
	var t T
	// Safe because the caller's row is one of the chunk's rows, and the column has room for all of
	// them.
	return (*T)(unsafe.Add(column, uintptr(row)*unsafe.Sizeof(t)))
}
