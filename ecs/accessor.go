package ecs

import (
	"fmt"
	"iter"
)

// RowRange is a range of rows of one chunk that a borrow's query sees. Its first row is a multiple
// of 64.
type RowRange struct {
	binding, pos uint32 // index in the borrow's bindings; the chunk's position in the archetype's store
	lo, n        uint32 // first row and number of rows
}

// Len returns the number of rows, matching or not.
func (p RowRange) Len() int { return int(p.n) }

// Row returns the index of the first row in its chunk.
func (p RowRange) Row() int { return int(p.lo) }

// Joins returns p and next as one range. It returns false if next does not start in the same chunk
// where p ends.
func (p RowRange) Joins(next RowRange) (RowRange, bool) {
	if p.binding != next.binding || p.pos != next.pos || p.lo+p.n != next.lo {
		return p, false
	}
	p.n += next.n
	return p, true
}

// Split appends the rows of the borrow's query to dst, in the order of Query.Rows, cut into ranges
// of at most grain rows. grain is rounded up to a multiple of 64. The ranges depend only on the
// existing rows and on grain, and on the entries of a sparse type that drives the query, whose
// ranges without one are left out; use Accessor.Rows to find which rows match. If the borrow writes
// a chunk type, each range is all rows of a chunk. The borrow must be out, and the ranges are valid
// while it is. Split panics if grain is less than 1.
func (b *Borrow) Split(dst []RowRange, grain int) []RowRange {
	b.checkRows("Borrow.Split")
	if grain < 1 {
		panic(fmt.Sprintf("ecs: Borrow.Split: grain=%d is less than 1", grain))
	}
	if grain = (min(grain, mostRows) + 63) &^ 63; b.chunks {
		grain = mostRows
	}
	if set := b.own.driving(); set != nil {
		return b.own.splitSet(dst, set, grain)
	}
	for i := range b.own.bindings {
		g := &b.own.bindings[i].a.table.Store
		if g.Len() == 0 {
			continue
		}
		for pos := range g.Chunks() {
			rows := g.RowsOf(pos)
			for lo := 0; lo < rows; lo += grain {
				dst = append(dst, RowRange{uint32(i), uint32(pos), uint32(lo), uint32(min(grain, rows-lo))})
			}
		}
	}
	return dst
}

// checkRows panics unless the borrow lends the rows of a query and is out.
func (b *Borrow) checkRows(op string) {
	b.check(op)
	if b.q == nil {
		// errors.md, Borrows: `everything is lent, and no query: use Borrow.Rows, and the world's
		// own look-ups`, `lends the rows of ... alone: use Borrow.Accessor` | An `Accessor` of what
		// `World.Share` returned, or `Rows` of a borrow of one query. | As it says.
		panic("ecs: " + op + ": everything is lent, and no query: use Borrow.Rows, and the world's own look-ups")
	}
	if !b.out {
		b.refuse(op)
	}
}

// Accessor gives one goroutine access to the rows of a borrow. It may be used again whenever the
// borrow is out.
type Accessor struct {
	b *Borrow
	s scan
}

// Accessor creates an accessor, for any one goroutine. Keep it for reuse: the borrow never drops
// it. Accessor panics for a borrow of everything; use Borrow.Rows there.
func (b *Borrow) Accessor() *Accessor {
	b.check("Borrow.Accessor")
	if b.q == nil {
		b.checkRows("Borrow.Accessor")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.newAccessor(&b.own)
}

func (b *Borrow) newAccessor(q *Query) *Accessor {
	r := &Accessor{b: b, s: scan{w: b.w, q: q, b: b}}
	b.accessors = append(b.accessors, r)
	return r
}

func (r *Accessor) check(op string) {
	if r == nil || r.b == nil {
		panic("ecs: " + op + ": the accessor is nil or the zero value; accessors come from Borrow.Accessor")
	}
	if !r.b.out {
		r.b.refuse(op)
	}
}

// Rows returns the rows of a range. It checks Changed and Ordered terms and enable bits at the
// call; ok is false if no row matches. The accessor's previous rows become stale. The rows work as
// in a loop, except that they create no values of managed types.
func (r *Accessor) Rows(p RowRange) (rows Rows, ok bool) {
	r.check("Accessor.Rows")
	b, s := r.b, &r.s
	s.turn()
	if int(p.binding) >= len(b.own.bindings) {
		r.refuse(p)
	}
	t := &b.own.bindings[p.binding]
	a, pos, first, n := t.a, int(p.pos), int(p.lo), int(p.n)
	if pos >= len(a.table.Store.Chunks()) || n == 0 || first+n > a.table.Store.RowsOf(pos) || first%64 != 0 {
		r.refuse(p)
	}
	s.since = b.own.since
	if since := b.own.since; b.own.skims(since) && !b.own.passes(b, a, pos, first, n, since) {
		return Rows{}, false
	}
	dense := true
	if len(t.tests) > 0 || b.own.tested() {
		matching := s.match(a, t.tests, pos, first, n)
		if matching == 0 {
			return Rows{}, false
		}
		dense = matching == n
	}
	at := a.table.Store.Row(pos, 0)
	s.t, s.first = t, first
	s.show(pos, at.Scale, dense)
	return makeRows(s, at.Base, n), true
}

//go:noinline
func (r *Accessor) refuse(p RowRange) {
	panic(fmt.Sprintf("ecs: Accessor.Rows: %s has no such rows: %+v; parts are good from Begin to End", r.b.name, p))
}

// Locate returns the location of e's values, or false if e is not alive. It panics for an entity of
// another world. The location, its archetype's types, and the numbers of rows and chunks hold until
// the borrow ends: nothing structural changes while it is out.
func (r *Accessor) Locate(e Entity) (Location, bool) {
	r.check("Accessor.Locate")
	return r.b.w.locate("Accessor.Locate", e)
}

// Done makes the accessor's last rows stale.
func (r *Accessor) Done() {
	if r != nil {
		r.s.turn()
	}
}

// Rows is Query.Rows for any goroutine while everything is borrowed. The query must not declare
// Write. Changed and Ordered terms compare with the query's Since, which does not advance.
func (b *Borrow) Rows(q *Query) iter.Seq[Rows] {
	return func(yield func(Rows) bool) {
		r := b.take("Borrow.Rows", q)
		defer b.giveBack(r)
		r.s.walk(q, yield)
	}
}

// RowsOf is Query.RowsOf for any goroutine while everything is borrowed; see Borrow.Rows.
func (b *Borrow) RowsOf(q *Query, value SharedValue) iter.Seq[Rows] {
	return func(yield func(Rows) bool) {
		r := b.take("Borrow.RowsOf", q)
		defer b.giveBack(r)
		q.checkValue("Borrow.RowsOf", value)
		r.s.walkOf(q, value.v, yield)
	}
}

// take returns an idle accessor for a loop over a query.
func (b *Borrow) take(op string, q *Query) *Accessor {
	b.check(op)
	b.mu.Lock()
	defer b.mu.Unlock()
	q.checkOpen(op)
	switch {
	case b.q != nil:
		panic(fmt.Sprintf("ecs: %s: %s lends the rows of %v alone: use Borrow.Accessor", op, b.name, b.q))
	case !b.out:
		b.refuse(op)
	case q.w != b.w:
		panic(fmt.Sprintf("ecs: %s: %v is of another world", op, q))
	case q.writes:
		// errors.md, Borrows: `declares Write; goroutines that share a world may only read it` |
		// `Borrow.Rows` of a query with `Write`. | A query of its own, or a job.
		panic(fmt.Sprintf("ecs: %s: %v declares Write; goroutines that share a world may only read it", op, q))
	}
	q.lookAlone()
	if len(b.idle) == 0 {
		b.idle = append(b.idle, b.newAccessor(q))
	}
	last := len(b.idle) - 1
	r := b.idle[last]
	r.s.q, b.idle = q, b.idle[:last]
	return r
}

// giveBack ends an accessor's loop and makes its rows stale.
func (b *Borrow) giveBack(r *Accessor) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r.s.turn()
	b.idle = append(b.idle, r)
}
