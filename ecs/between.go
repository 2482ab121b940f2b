package ecs

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"quarry/ecs/internal/table"
)

// Ranges. A Between term passes only chunks that may have a row whose field lies in a range. It
// compares the range with the bounds of the field in the chunk, the least and the greatest number,
// which the books of a table keep (ecs/internal/table/bounds.go). Bounds are taken from the column
// when a loop first asks for them after a change of the chunk, so writes cost nothing more.
//
//	chunk        0             1             2             3
//	bounds       2.10 2.41     2.41 2.77     2.77 3.02     3.02 5.20
//	Between 2.5 and 2.6        shown
//
// The goroutines of a borrow load bounds and store none: where the bounds of a chunk are not known,
// they measure the rows that they are given. Begin takes the bounds that are not known, unless
// another borrow writes the type.

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
type Range[F Number] struct{ s *span }

// NewRange returns a range of a field, see Between.
func NewRange[T any, F Number](c Component[T], field func(*T) *F, lo, hi F) Range[F] {
	return newRange("NewRange", c, field, lo, hi)
}

func newRange[T any, F Number](op string, c Component[T], field func(*T) *F, lo, hi F) Range[F] {
	switch {
	case c.t == nil:
		panic("ecs: " + op + ": " + unmade["Component"])
	case field == nil:
		panic("ecs: " + op + ": the function that names the field is nil")
	}
	value := new(T)
	at := field(value)
	// Safe because both are only numbers, taken while the value is alive.
	offset, size := uintptr(unsafe.Pointer(at))-uintptr(unsafe.Pointer(value)), unsafe.Sizeof(*at)
	if at == nil || offset >= unsafe.Sizeof(*value) || offset+size > unsafe.Sizeof(*value) {
		// errors.md, Types, terms and handles: `the function does not return the address of a field
		// of its argument` | The function of a `Between` returns nil or the address of something
		// else. | `func(p *Position) *float64 { return &p.X }`.
		panic(fmt.Sprintf("ecs: %s: the function does not return the address of a field of its argument, a %s", op, c.t.name))
	}
	s := &span{t: c.t, field: table.Field{Offset: offset, Kind: reflect.TypeFor[F]().Kind()}}
	s.show = func() string { // 0 is added to -0
		return fmt.Sprintf("from %v to %v", table.Of[F](s.low)+0, table.Of[F](s.high)+0)
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
		panic("ecs: Range.Set: " + unmade["Range"])
	}
	r.s.endBorrows("Range.Set")
	r.set("Range.Set", lo, hi)
}

func (r Range[F]) set(op string, lo, hi F) {
	if lo != lo || hi != hi {
		// errors.md, Types, terms and handles: `an end of the range is NaN` | A range from or to
		// NaN. | Infinities are ends of a range without an end.
		panic(fmt.Sprintf("ecs: %s: an end of the range is NaN: from %v to %v", op, lo, hi))
	}
	r.s.low, r.s.high = table.LowKey(lo), table.HighKey(hi)
}

// Term returns the term that passes chunks by the range, see Between.
func (r Range[F]) Term() Term {
	if r.s == nil {
		panic("ecs: Range.Term: " + unmade["Range"])
	}
	return Term{kind: termBetween, of: []operand{{t: r.s.t}}, span: r.s}
}

// Bounds returns the least and the greatest number of the field in the rows' chunk. ok is false if
// there is none: all are NaN. In a job it may be those of the body's rows alone. The query must
// declare the component. Bounds panics like Component.Slice. Cost: as a Between term of a chunk.
func (r Range[F]) Bounds(rows Rows) (least, greatest F, ok bool) {
	const op = "Range.Bounds"
	if r.s == nil {
		panic("ecs: " + op + ": " + unmade["Range"])
	}
	if _, ok = rows.placeOf(r.s.t, op); !ok {
		return least, greatest, false
	}
	s := rows.s
	first, n := 0, s.t.a.table.Store.RowsOf(s.pos)
	if s.b != nil && s.b.q != nil {
		first, n = s.first, rows.Len()
	}
	of := queryRange{span: r.s}
	e := of.extent(s.q, s.b, s.t.a, s.pos, first, n)
	if e.Least > e.Greatest {
		return least, greatest, false
	}
	return table.Of[F](e.Least), table.Of[F](e.Greatest), true
}

// span is the range of a field.
type span struct {
	t         *typeInfo
	field     table.Field
	low, high uint64 // keys, see table.KeyOf; nothing is in the range if low is greater
	show      func() string
}

func (s *span) text(masked bool) string {
	text := "Between " + s.t.name + fieldName(s.t.rtype, s.field.Offset) + " " + s.show()
	if masked {
		text += " masked"
	}
	return text
}

// fieldName returns how Go names the field of a type at an offset: .X, .V[2] or, of a number,
// nothing.
func fieldName(t reflect.Type, at uintptr) string {
	switch t.Kind() {
	case reflect.Array:
		i := at / t.Elem().Size()
		return fmt.Sprintf("[%d]", i) + fieldName(t.Elem(), at-i*t.Elem().Size())
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); at >= f.Offset && at < f.Offset+f.Type.Size() {
				return "." + f.Name + fieldName(f.Type, at-f.Offset)
			}
		}
	}
	return ""
}

// endBorrows ends the borrows of queries that have the range, whose goroutines read it.
func (s *span) endBorrows(op string) {
	w := s.t.w
	w.checkHandle(op)
	w.checkUnshared(op)
	for _, b := range w.loops.borrows {
		if slices.ContainsFunc(b.own.ranges, func(r queryRange) bool { return r.span == s }) {
			w.endBorrows(op)
			return
		}
	}
}

// queryRange is a Between term of a query.
type queryRange struct {
	*span
	masked bool
}

// passes reports whether n rows of a chunk, from first on, may have one in the range. b is the
// borrow whose goroutine asks, or nil for the owner.
func (r *queryRange) passes(q *Query, b *Borrow, a *Archetype, pos, first, n int) bool {
	if r.low > r.high {
		return false
	}
	e := r.extent(q, b, a, pos, first, n)
	return e.Least <= r.high && e.Greatest >= r.low
}

// extent returns the extent of the field in the chunk, or in n of its rows from first on.
func (r *queryRange) extent(q *Query, b *Borrow, a *Archetype, pos, first, n int) table.Extent {
	books, slot := &a.table.Books, a.table.Places[r.t.id].Slot()
	kept := books.FindBounds(slot, r.field)
	if e, ok := kept.Load(books, pos); ok {
		return e
	}
	if b == nil && kept == nil && len(q.w.loops.borrows) == 0 { // goroutines read the list of bounds
		books.KeepBounds(slot, r.field)
		kept = books.FindBounds(slot, r.field)
	}
	keep := kept != nil && (b == nil || b.q == nil) && q.settle(b, books, slot, pos)
	e := a.table.Measure(r.t.id, r.field, pos, first, n)
	if keep {
		kept.Store(books, pos, e)
	}
	return e
}

// settle reports whether the next write to a chunk will show in its versions. If not, it begins a
// new version where it may.
func (q *Query) settle(b *Borrow, books *table.Books, slot uint16, pos int) bool {
	if books.Settled(slot, pos, q.w.tables.Version) {
		return true
	}
	if b != nil || q.pinned || q.w.Shared() {
		return false
	}
	q.w.Advance()
	return true
}

// measure takes the bounds of all chunks of bindings that are not known, before the rows are lent.
func (q *Query) measure(bindings []binding) {
	for i := range q.ranges {
		r := &q.ranges[i]
		if r.t.writers > 0 {
			continue
		}
		for k := range bindings {
			a := bindings[k].a
			for pos := range a.table.Store.Chunks() {
				if !q.pinned || a.table.Books.Settled(a.table.Places[r.t.id].Slot(), pos, q.w.tables.Version) {
					r.extent(q, nil, a, pos, 0, a.table.Store.RowsOf(pos))
				}
			}
		}
	}
}

// covers reports whether all rows of a chunk are known to be in the range.
func (r *queryRange) covers(a *Archetype, pos int) bool {
	books := &a.table.Books
	e, ok := books.FindBounds(a.table.Places[r.t.id].Slot(), r.field).Load(books, pos)
	return ok && !e.NaNs && e.Least >= r.low && e.Greatest <= r.high
}

// inRanges reports whether a row is in the query's masked ranges.
func (q *Query) inRanges(a *Archetype, pos, row int) bool {
	mask := [1]uint64{1}
	for i := range q.ranges {
		if r := &q.ranges[i]; r.masked {
			a.table.Narrow(r.t.id, r.field, pos, row, 1, r.low, r.high, mask[:])
		}
	}
	return mask[0] != 0
}

// checkExact panics for a query that passes chunks by a range and shows all their rows: a change
// has no loop that compares them.
func (q *Query) checkExact(op string) {
	for i := range q.ranges {
		if !q.ranges[i].masked {
			// errors.md, Entities: `shows whole chunks: take the term of its Between with Masked` |
			// A change by a query with a `Between`, which passes chunks, not rows. | As it says.
			panic(fmt.Sprintf("ecs: %s: %v shows whole chunks: take the term of its Between with Masked", op, q))
		}
	}
}
