package ecs

import (
	"fmt"
	"reflect"
	"unsafe"

	"quarry/ecs/internal/query"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/world"
)

// Between terms: conditions on a number in a component, decided by the least and the greatest
// number of each chunk, and ranges that change from loop to loop.

// Number is the constraint on the fields that Between takes.
type Number interface{ table.Number }

// Between passes the chunks of entities with the component c in which the field may be from lo to
// hi, both included, in some row: whose least number is at most hi, and whose greatest at least lo.
// field returns the address of the field in the value that it is given:
//
//	ecs.Between(orbit, func(o *Orbit) *float64 { return &o.Axis }, 2.5, 2.6)
//
// A chunk that passes is shown whole, so the loop compares the rows itself; with Term.Masked only
// rows in the range match. Chunks are passed over if rows lie in the order of the field, or come in
// it, and chunks are many: see ChunkGrowth. A NaN is in no range, nor is anything if lo is greater
// than hi. Enable bits do not count. A query may have several Between terms, all of which must
// pass, also of types in its other terms.
//
// Cost: two comparisons a chunk and term, and a pass over the field's column where a chunk was
// written since the last loop. So that the next write to a chunk shows, a loop advances the world's
// version before it takes bounds of a chunk that was written in the current one, as loops with
// Changed do when they end: a slice that was taken for writing before the loop must be taken again
// for further writes. A query of a system does not advance the version. Between panics for a nil or
// NaN argument and if field returns an address outside its argument.
func Between[T any, F Number](c Component[T], field func(*T) *F, lo, hi F) Term {
	return newRange("Between", c, field, lo, hi).Term()
}

// Range is a range of a field that changes from loop to loop: the query with its term sees each
// Range.Set. A Range belongs to the world's owner.
type Range[F Number] struct{ s *query.FieldRange }

// NewRange returns a range of a field, see Between.
func NewRange[T any, F Number](c Component[T], field func(*T) *F, lo, hi F) Range[F] {
	return newRange("NewRange", c, field, lo, hi)
}

func newRange[T any, F Number](op string, c Component[T], field func(*T) *F, lo, hi F) Range[F] {
	switch {
	case c.t == nil:
		panic("ecs: " + op + ": " + world.Unmade["Component"])
	case field == nil:
		panic("ecs: " + op + ": the function that names the field is nil")
	}
	value := new(T)
	at := field(value)
	// Safe because both are only numbers, taken while the value is alive.
	offset, size := uintptr(unsafe.Pointer(at))-uintptr(unsafe.Pointer(value)), unsafe.Sizeof(*at)
	if at == nil || offset >= unsafe.Sizeof(*value) || offset+size > unsafe.Sizeof(*value) {
		panic(fmt.Sprintf("ecs: %s: the function does not return the address of a field of its argument, a %s",
			op, c.t.Name))
	}
	s := &query.FieldRange{Type: c.t, Field: table.Field{Offset: offset, Kind: reflect.TypeFor[F]().Kind()}}
	s.Show = func() string { // 0 is added to -0
		return fmt.Sprintf("from %v to %v", table.Of[F](s.Low)+0, table.Of[F](s.High)+0)
	}
	r := Range[F]{s}
	r.set(op, lo, hi)
	return r
}

// Set changes the range. A loop over a query with the range sees the new one from its next chunk
// on; jobs that read by it are completed first. Set panics if lo or hi is NaN, and while the world
// is shared.
func (r Range[F]) Set(lo, hi F) {
	if r.s == nil {
		panic("ecs: Range.Set: " + world.Unmade["Range"])
	}
	r.s.EndBorrows("Range.Set")
	r.set("Range.Set", lo, hi)
}

func (r Range[F]) set(op string, lo, hi F) {
	if lo != lo || hi != hi {
		panic(fmt.Sprintf("ecs: %s: an end of the range is NaN: from %v to %v", op, lo, hi))
	}
	r.s.Low, r.s.High = table.LowKey(lo), table.HighKey(hi)
}

// Term returns the term that passes chunks by the range, see Between.
func (r Range[F]) Term() Term {
	if r.s == nil {
		panic("ecs: Range.Term: " + world.Unmade["Range"])
	}
	return Term{core: query.Term{Kind: query.TermBetween, Of: []query.Operand{{Type: r.s.Type}}, Span: r.s}}
}

// Bounds returns the least and the greatest number of the field in the rows' chunk. ok is false if
// there is none: all are NaN. In a job it may be those of the body's rows alone. The query must
// declare the component. Bounds panics like Component.Slice. Cost: as a Between term of a chunk.
func (r Range[F]) Bounds(rows Rows) (least, greatest F, ok bool) {
	const op = "Range.Bounds"
	if r.s == nil {
		panic("ecs: " + op + ": " + world.Unmade["Range"])
	}
	if _, ok = rows.core.PlaceOf(r.s.Type, op); !ok {
		return least, greatest, false
	}
	s := rows.core.Scan
	first, n := 0, s.Binding.Archetype.Table.Store.RowsOf(s.Pos)
	if s.Borrow != nil && s.Borrow.Query != nil {
		first, n = s.First, rows.Len()
	}
	of := query.QueryRange{FieldRange: r.s}
	e := of.Extent(s.Query, s.Borrow, s.Binding.Archetype, s.Pos, first, n)
	if e.Least > e.Greatest {
		return least, greatest, false
	}
	return table.Of[F](e.Least), table.Of[F](e.Greatest), true
}
