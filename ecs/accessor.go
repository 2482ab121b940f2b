package ecs

import (
	"iter"
	"unsafe"

	"quarry/ecs/internal/query"
)

// Accessor is a goroutine's access to what a job lends it, for look-ups: see Component.Lookup, and
// Accessor of job.Ctx. It may be used again whenever the job runs.
type Accessor struct{ core query.Accessor }

func (r *Accessor) inner() *query.Accessor { return (*query.Accessor)(unsafe.Pointer(r)) } // Safe because an Accessor is its core.

// Locate returns the location of e's values, or false if e is not alive. It panics for an entity of
// another world. The location, its archetype's types, and the numbers of rows and chunks hold until
// the borrow ends: nothing structural changes while it is out.
func (r *Accessor) Locate(e Entity) (Location, bool) {
	r.inner().Check("Accessor.Locate")
	return worldFrom(r.core.Borrow.World).locate("Accessor.Locate", e)
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
