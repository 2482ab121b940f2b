package ecs

import (
	"fmt"
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
type Component[T any] struct{ enableHandle }

// A Component of one type is compiled with the package, so that TestInlined of internal/lint sees
// its methods.
var _ Type = Component[DisabledEntity]{}

// Register registers T as a component type of w and returns its handle. A second call for the same
// type returns the same handle. Register panics if T holds a Go pointer, with the path to it, and
// if T was registered before with other options. It panics with a *LimitError for more than
// 1,024 types, and for a type so large that a row with it does not fit in 16 KiB. Larger values
// can be the elements of a buffer, see RegisterBuffer.
func Register[T any](w *World, options ...TypeOption) Component[T] {
	info := world.ComponentOf(reflect.TypeFor[T]())
	applyOptions(info, "Register", options)
	return Component[T]{enableHandle{handle{w.inner().Register("Register", info)}}}
}

// Get returns a pointer to e's component for reading, or nil if e is not alive or does not have it.
// The pointer is valid until the next structural change of the world. A loop over rows may look up
// any entity, whatever its query declares. For hundreds of entities in random order, GetList is
// faster.
func (c Component[T]) Get(e Entity) *T {
	// Safe because a Type begins with its LookupTable, which holds the addresses of Ts.
	return (*T)((*entity.LookupTable)(unsafe.Pointer(c.t)).At(entity.ID(e)))
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
func (c Component[T]) Add(e Entity, v T) (added bool) {
	// Safe because Add returns the place of a T, or nil.
	if p := (*T)(edit.Add(c.t, "Component.Add", entity.ID(e))); p != nil {
		*p, added = v, true
	}
	return
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
				*t.Archetype.Table.Metadata.Version(p.Slot(), s.Pos) = c.World.Tables.Version
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

// GetList appends to dst the result of Get for each entity, which is nil if the entity is not alive
// or does not have the component, and returns the extended dst. Entities may repeat. The pointers
// are valid until the next structural change of the world. When GetList returns, the values' cache
// lines are being prefetched: look up a few hundred entities and then use them, rather than a
// million at once.
//
// GetList panics like Get for an entity of another world; the spare capacity of dst may have been
// written by then. It allocates only if that capacity is too small.
func (c Component[T]) GetList(dst []*T, entities []Entity) []*T {
	return pointersTo[T](c.t.FindMany(world.OpGetMany, addresses(dst), idsOf(entities), false))
}

// MutList is GetList for writing: it also marks the component changed in the chunk of each entity.
// If it panics, some chunks may have been marked.
func (c Component[T]) MutList(dst []*T, entities []Entity) []*T {
	return pointersTo[T](c.t.FindMany(world.OpMutMany, addresses(dst), idsOf(entities), true))
}

// addresses and pointersTo convert a list of pointers to one without a type and back, so that
// FindMany is compiled once for all types.
func addresses[T any](list []*T) []unsafe.Pointer {
	return *(*[]unsafe.Pointer)(unsafe.Pointer(&list)) // Safe because all pointers have one form.
}

func pointersTo[T any](list []unsafe.Pointer) []*T {
	return *(*[]*T)(unsafe.Pointer(&list)) // Safe because what was found are addresses of a T, or nil.
}

// CopyList copies the component of each e = entities[i] to dst[i], and the zero value if e is not
// alive or does not have the component. It returns the number of missing components. Entities may
// repeat; dst must not lie in the world's memory. CopyList allocates nothing.
//
// CopyList panics if the lengths differ, before anything is written. It panics like Get for an
// entity of another world; the values before it may have been written by then.
func (c Component[T]) CopyList(dst []T, entities []Entity) (missing int) {
	const op = world.OpGather
	t := c.t
	t.Ready(op, false)
	if len(dst) != len(entities) {
		panic(fmt.Sprintf("ecs: %s: len(dst)=%d is not len(entities)=%d", op, len(dst), len(entities)))
	}
	// One block's values are copied while the next one's are on their way.
	var blocks [2]world.Found
	size, far := world.LookupBlock, t.IsFar()
	if far {
		size = world.FarBlock
	}
	n := t.FindBlock(op, blocks[0][:size], idsOf(entities), far, false)
	for turn := 0; n > 0; turn ^= 1 {
		entities = entities[n:]
		next := t.FindBlock(op, blocks[turn^1][:size], idsOf(entities), far, false)
		for i, p := range blocks[turn][:n] {
			if p == 0 {
				clear(dst[i : i+1])
				missing++
				continue
			}
			// Safe because p is the address of a T (L1), kept alive by the universe.
			dst[i] = **(**T)(unsafe.Pointer(&p))
		}
		dst, n = dst[n:], next
	}
	return missing
}
