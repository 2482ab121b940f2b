package ecs

import (
	"iter"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
)

// Deprecated names, which the next version will not have. go fix writes what to write instead where
// a function has the comment go:fix inline; the others say it.

// Share is World.Lend.
//
// Deprecated: use World.Lend.
//
//go:fix inline
func (w *World) Share() *Borrow { return w.Lend() }

// Shared is World.Lent.
//
// Deprecated: use World.Lent.
//
//go:fix inline
func (w *World) Shared() bool { return w.Lent() }

// Rows is Query.Rows, which any goroutine may call while the world is lent.
//
// Deprecated: use Query.Rows.
//
//go:fix inline
func (b *Borrow) Rows(q *Query) iter.Seq[Rows] { return q.Rows() }

// RowsOf is Query.Where, which any goroutine may call while the world is lent.
//
// Deprecated: use Query.Where.
//
//go:fix inline
func (b *Borrow) RowsOf(q *Query, value SharedValue) iter.Seq[Rows] { return q.Where(value) }

// RowsIn is ChunkList.Rows, which any goroutine may call while the world is lent.
//
// Deprecated: use ChunkList.Rows.
//
//go:fix inline
func (b *Borrow) RowsIn(l ChunkList) iter.Seq[Rows] { return l.Rows() }

// RowsOf is Query.Where.
//
// Deprecated: use Query.Where.
//
//go:fix inline
func (q *Query) RowsOf(value SharedValue) iter.Seq[Rows] { return q.Where(value) }

// MaxEntities is the number of entity indices of a world, including the index of Null and one more
// index that no entity gets.
//
// Deprecated: it is 1 << 27; a *LimitError has the limit that was reached.
const MaxEntities = entity.MaxIDs

// MaxTypes is the maximum number of component types of a world, including the four built-in types.
//
// Deprecated: it is 1,024; a *LimitError has the limit that was reached.
const MaxTypes = world.MaxTypes

// Used returns the bytes that rows use.
//
// Deprecated: use Rows and RowBytes.
//
//go:fix inline
func (o Occupancy) Used() int { return o.Rows * o.RowBytes }

// Waste returns the bytes that are held but not used: room for further rows, padding at the ends of
// columns, and the reserve.
//
// Deprecated: use Bytes, Reserve, Rows and RowBytes.
//
//go:fix inline
func (o Occupancy) Waste() int { return o.Bytes + o.Reserve - o.Rows*o.RowBytes }

// go fix cannot rewrite Each1 and Each2: it inlines no call whose type arguments are inferred (Go
// 1.26).

// Each1 calls f for every entity that matches q, with the entity's component. The pointer is nil if
// the chunk lacks an Optional type. Each1 panics like Component.Slice, which it calls once per
// chunk. Cost: one call per entity.
//
// Deprecated: Loop over rows, or use a View. The body of f becomes that of the inner loop, and its
// return becomes continue:
//
//	for rows := range q.Rows() {
//		e, as := rows.Entities(), a.Slice(rows) // as is nil if the chunk lacks an Optional type
//		for i := range rows.Each() {
//			// e[i] and &as[i]
//		}
//	}
func Each1[A any](q *Query, a Component[A], f func(e Entity, a *A)) {
	if f == nil {
		panic("ecs: Each1: the function is nil")
	}
	for rows := range q.Rows() {
		e, as := rows.Entities(), a.Slice(rows)
		for i := range rows.Each() {
			f(e[i], rowOf(as, i))
		}
	}
}

// Each2 is like Each1 with two components.
//
// Deprecated: Loop over rows as in place of Each1, with b.Slice(rows) too, or use a View.
func Each2[A, B any](q *Query, a Component[A], b Component[B], f func(e Entity, a *A, b *B)) {
	if f == nil {
		panic("ecs: Each2: the function is nil")
	}
	for rows := range q.Rows() {
		e, as, bs := rows.Entities(), a.Slice(rows), b.Slice(rows)
		for i := range rows.Each() {
			f(e[i], rowOf(as, i), rowOf(bs, i))
		}
	}
}

// rowOf returns a pointer to row i of a column, or nil for a nil column.
func rowOf[T any](column []T, i int) *T {
	if column == nil {
		return nil
	}
	return &column[i]
}
