package ecs

import (
	"reflect"
	"unsafe"

	"quarry/ecs/internal/entity"
)

// Component is the handle of a component type. A type without fields is a tag:
// entities have it or not, and it takes no room.
//
// All methods belong to the world's owner: one goroutine at a time.
type Component[T any] struct{ handle }

// Register makes T a component type of w and returns its handle; a second call
// for the same type returns the same handle. It panics when T holds a Go
// pointer, with the path to it, when T was registered with other options, and
// with a *LimitError for more than MaxTypes types or a type that leaves an entity no room
// in 16 KiB; larger values are elements of a buffer, see RegisterBuffer.
func Register[T any](w *World, options ...TypeOption) Component[T] {
	t := reflect.TypeFor[T]()
	info := typeInfo{rtype: t, name: shortName(t), finder: finder{size: int(t.Size())}, align: t.Align()}
	info.apply("Register", options)
	return Component[T]{handle{w.register("Register", info)}}
}

// Get returns e's component to read, or nil when e is not alive or does not
// have it. The pointer is good until the next structural change of the world. A loop
// over rows may look up any entity, whatever its query declares. Of hundreds in no
// order GetList is faster.
func (c Component[T]) Get(e Entity) *T {
	// Safe because a typeInfo begins with its Sight, which has the addresses of Ts.
	return (*T)((*entity.Sight)(unsafe.Pointer(c.t)).At(entity.ID(e)))
}

// Mut is Get for writing: it marks the component changed in e's chunk. The mark is set
// now, not when the pointer is written through: after a loop with Changed has ended take
// it again.
func (c Component[T]) Mut(e Entity) *T {
	return (*T)(c.t.mut(opMut, e)) // Safe because mut returns the address of a T, or nil.
}

// Set writes e's component and marks it changed. It returns false when e is not
// alive or does not have it.
func (c Component[T]) Set(e Entity, v T) bool {
	p := (*T)(c.t.mut(opSet, e)) // Safe because mut returns the address of a T, or nil.
	if p == nil {
		return false
	}
	*p = v
	return true
}

// Add gives e the component with value v. It returns false, and keeps the old
// value, when e has it already. It panics when e is not alive, during
// iteration, and with a *LimitError when there is no room; the world is as it
// was then. Cost: one move of e's row to another archetype.
func (c Component[T]) Add(e Entity, v T) bool {
	p := c.t.add("Component.Add", e)
	if p == nil {
		return false
	}
	*(*T)(p) = v // Safe because add returns the place of a T.
	return true
}

// TryAdd is Add that returns the *LimitError.
func (c Component[T]) TryAdd(e Entity, v T) (bool, error) {
	p, err := c.t.tryAdd("Component.Add", e)
	if p == nil {
		return false, err
	}
	*(*T)(p) = v // Safe because tryAdd returns the place of a T.
	return true, nil
}

// Slice returns the component's column of rows, one element per row, and nil where
// the chunk lacks an Optional type. When the query declares Write, or the rows come
// from a Batch, the column is marked changed. It panics for a type that the query
// does not declare, for rows of another world and for rows that are no longer
// current. The slice is good until the next structural change. It has rows that do
// not match, too: see Rows.Each. Nothing stops a write to what was declared Read,
// but no version tells of it.
func (c Component[T]) Slice(rows Rows) []T {
	return slice[T](rows.s, rows.base, rows.span, c.t)
}

// ReadOnly is Slice without marking the column changed: for loops over a column that
// the query declares Write which only read it, or write seldom and call Mark then.
func (c Component[T]) ReadOnly(rows Rows) []T {
	p, ok := rows.placeOf(c.t, "Component.ReadOnly")
	if !ok {
		return nil
	}
	return sliceOf[T](rows, rows.s.columnAt(rows.base, p))
}

// slice is Rows.column and sliceOf in one, for a loop over one row is little else. Its
// arguments are single words: of structs that come in registers the compiler writes every
// pointer to the stack.
func slice[T any](s *scan, base unsafe.Pointer, span uint64, c *typeInfo) []T {
	if s != nil && uint32(span) == s.serial && c != nil && s.w == c.w {
		t := s.t
		if i := uint(c.id) - t.lowest; i < uint(len(t.columns)) {
			p := t.columns[i]
			if p.Flags()&mayWrite != 0 {
				*t.a.table.Books.Version(p.Slot(), s.pos) = c.w.tables.Version
			} else if p.Flags()&mayRead == 0 {
				goto missing
			}
			var v T
			at := uintptr(p.Offset)*s.scale + uintptr(s.first)*unsafe.Sizeof(v)
			n := span >> (64 - spanBits)
			// Safe because the column holds one T per row of the chunk, and the n rows from
			// the first on lie inside it, see sliceOf.
			return (*[mostRows]T)(unsafe.Add(base, at))[:n:n]
		}
	}
missing:
	return sliceMissing[T](Rows{s, base, span}, c)
}

// sliceMissing is slice of what that does not expect, see Rows.missing. It is a call, so slice
// keeps nothing for it.
//
//go:noinline
func sliceMissing[T any](rows Rows, c *typeInfo) []T {
	if column := rows.missing(c, "Component.Slice"); column != nil {
		return sliceOf[T](rows, column)
	}
	return nil
}

// sliceOf returns a column's elements of the rows.
func sliceOf[T any](rows Rows, column unsafe.Pointer) []T {
	n := rows.Len()
	// Safe because the column holds one T per row of the chunk and the n rows from the
	// first on lie inside it. No more than mostRows rows are, so this form of
	// unsafe.Slice needs no check.
	return (*[mostRows]T)(unsafe.Pointer(element[T](column, rows.s.first)))[:n:n]
}

// element returns the row'th T of a column.
func element[T any](column unsafe.Pointer, row int) *T {
	var t T
	// Safe because the caller's row is one of the chunk's rows, and the column
	// has room for them all.
	return (*T)(unsafe.Add(column, uintptr(row)*unsafe.Sizeof(t)))
}
