package ecs

import (
	"iter"
	"unsafe"

	"quarry/ecs/internal/query"
)

// RowRange is a range of rows of one chunk that a borrow's query sees. Its first row is a multiple
// of 64.
type RowRange struct{ core query.RowRange }

// Len returns the number of rows, matching or not.
func (p RowRange) Len() int { return int(p.core.N) }

// Row returns the index of the first row in its chunk.
func (p RowRange) Row() int { return int(p.core.Lo) }

// Joins returns p and next as one range. It returns false if next does not start in the same chunk
// where p ends.
func (p RowRange) Joins(next RowRange) (RowRange, bool) {
	if p.core.Binding != next.core.Binding || p.core.Pos != next.core.Pos || p.core.Lo+p.core.N != next.core.Lo {
		return p, false
	}
	p.core.N += next.core.N
	return p, true
}

// Split appends the rows of the borrow's query to dst, in the order of Query.Rows, cut into ranges
// of at most grain rows. grain is rounded up to a multiple of 64. The ranges depend only on the
// existing rows and on grain, and on the entries of a sparse type that drives the query, whose
// ranges without one are left out; use Accessor.Rows to find which rows match. If the borrow writes
// a chunk type, each range is all rows of a chunk. The borrow must be out, and the ranges are valid
// while it is. Split panics if grain is less than 1.
func (b *Borrow) Split(dst []RowRange, grain int) []RowRange {
	return coresOf[RowRange](b.inner().Split(coresOf[query.RowRange](dst), grain))
}

// Accessor gives one goroutine access to the rows of a borrow. It may be used again whenever the
// borrow is out.
type Accessor struct{ core query.Accessor }

func (r *Accessor) inner() *query.Accessor     { return (*query.Accessor)(unsafe.Pointer(r)) } // Safe because an Accessor is its core.
func accessorFrom(r *query.Accessor) *Accessor { return (*Accessor)(unsafe.Pointer(r)) }       // Safe because an Accessor is its core.

// Accessor creates an accessor, for any one goroutine. Keep it for reuse: the borrow never drops
// it. Accessor panics for a borrow of everything; use Borrow.Rows there.
func (b *Borrow) Accessor() *Accessor { return accessorFrom(b.inner().Accessor()) }

// Rows returns the rows of a range. It checks Changed and Ordered terms and enable bits at the
// call; ok is false if no row matches. The accessor's previous rows become stale. The rows work as
// in a loop, except that they create no values of managed types.
func (r *Accessor) Rows(p RowRange) (rows Rows, ok bool) {
	made, err := r.inner().Rows(p.core)
	return Rows{made}, err
}

// Locate returns the location of e's values, or false if e is not alive. It panics for an entity of
// another world. The location, its archetype's types, and the numbers of rows and chunks hold until
// the borrow ends: nothing structural changes while it is out.
func (r *Accessor) Locate(e Entity) (Location, bool) {
	r.inner().Check("Accessor.Locate")
	return worldFrom(r.core.Borrow.World).locate("Accessor.Locate", e)
}

// Done makes the accessor's last rows stale.
func (r *Accessor) Done() {
	if r != nil {
		r.core.Scan.Turn()
	}
}

// Rows is Query.Rows for any goroutine while everything is borrowed. The query must not declare
// Write. Changed and Ordered terms compare with the query's Since, which does not advance.
func (b *Borrow) Rows(q *Query) iter.Seq[Rows] {
	return func(yield func(Rows) bool) {
		r := b.inner().Take("Borrow.Rows", q.inner())
		defer b.inner().GiveBack(r)
		r.Scan.Walk(q.inner(), coreYield(yield))
	}
}

// RowsOf is Query.RowsOf for any goroutine while everything is borrowed; see Borrow.Rows.
func (b *Borrow) RowsOf(q *Query, value SharedValue) iter.Seq[Rows] {
	return func(yield func(Rows) bool) {
		r := b.inner().Take("Borrow.RowsOf", q.inner())
		defer b.inner().GiveBack(r)
		q.inner().CheckValue("Borrow.RowsOf", value.core)
		r.Scan.WalkOf(q.inner(), value.core.Value, coreYield(yield))
	}
}
