package query

import (
	"fmt"

	"quarry/ecs/internal/world"
)

// Split appends the rows of the borrow's query to dst, in the order of Query.Rows, cut into ranges
// of at most grain rows. grain is rounded up to a multiple of 64. The ranges depend only on the
// existing rows and on grain, and on the entries of a sparse type that drives the query, whose
// ranges without one are left out; Accessor.Rows finds which rows match. If the borrow writes a
// chunk type, each range is all rows of a chunk. The borrow must be out, and the ranges are valid
// while it is. Split panics if grain is less than 1.
func (b *Borrow) Split(dst []RowRange, grain int) []RowRange {
	b.checkRows("Borrow.Split")
	if grain < 1 {
		panic(fmt.Sprintf("ecs: Borrow.Split: grain=%d is less than 1", grain))
	}
	if grain = (min(grain, MostRows) + 63) &^ 63; b.chunks {
		grain = MostRows
	}
	if set := b.own.driving(); set != nil {
		return b.own.splitSet(dst, set, grain)
	}
	for i := range b.own.Bindings {
		g := &b.own.Bindings[i].Archetype.Table.Store
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
	b.Check(op)
	if b.Query == nil {
		panic("ecs: " + op + ": everything is lent, and no query: use Query.Rows, and the world's own look-ups")
	}
	if !b.Out {
		b.Refuse(op)
	}
}

// Accessor creates an accessor, for any one goroutine. Keep it for reuse: the borrow never drops
// it. Accessor panics for a borrow of everything; use Query.Rows there.
func (b *Borrow) Accessor() *Accessor {
	b.Check("Borrow.Accessor")
	if b.Query == nil {
		b.checkRows("Borrow.Accessor")
	}
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return b.newAccessor(&b.own)
}

func (b *Borrow) newAccessor(q *Query) *Accessor {
	r := &Accessor{Borrow: b, Scan: Scan{World: b.World, Query: q, Borrow: b}}
	b.accessors = append(b.accessors, r)
	return r
}

// Check panics for an accessor of no borrow, and where its borrow is not out.
func (r *Accessor) Check(op string) {
	if r == nil || r.Borrow == nil {
		panic("ecs: " + op + ": the accessor is nil or the zero value; accessors come from Borrow.Accessor")
	}
	if !r.Borrow.Out {
		r.Borrow.Refuse(op)
	}
}

// Rows returns the rows of a range. It checks Changed and Ordered terms and enable bits at the
// call; ok is false if no row matches. The accessor's previous rows become stale. The rows work as
// in a loop, except that they create no values of managed types.
func (r *Accessor) Rows(p RowRange) (rows Rows, ok bool) {
	r.Check("Accessor.Rows")
	b, s := r.Borrow, &r.Scan
	s.ExpireRows()
	if int(p.Binding) >= len(b.own.Bindings) {
		r.refuse(p)
	}
	t := &b.own.Bindings[p.Binding]
	a, pos, first, n := t.Archetype, int(p.Pos), int(p.Lo), int(p.N)
	if pos >= len(a.Table.Store.Chunks()) || n == 0 || first+n > a.Table.Store.RowsOf(pos) || first%64 != 0 {
		r.refuse(p)
	}
	s.Since = b.own.Since
	if since := b.own.Since; b.own.MaySkipChunks(since) && !b.own.ChunkPasses(b, a, pos, first, n, since) {
		return Rows{}, false
	}
	dense := true
	if len(t.tests) > 0 || b.own.tested() {
		matching := s.Match(a, t.tests, pos, first, n)
		if matching == 0 {
			return Rows{}, false
		}
		dense = matching == n
	}
	at := a.Table.Store.Row(pos, 0)
	s.Binding, s.First = t, first
	s.MoveTo(pos, at.Scale, dense)
	return MakeRows(s, at.Base, n), true
}

//go:noinline
func (r *Accessor) refuse(p RowRange) {
	panic(fmt.Sprintf("ecs: Accessor.Rows: %s has no such rows: %+v; parts are good from Begin to End",
		r.Borrow.Name, p))
}

// Take returns an idle accessor of the borrow of everything for a loop over a query.
func (b *Borrow) Take(op string, q *Query) *Accessor {
	b.Check(op)
	b.Mu.Lock()
	defer b.Mu.Unlock()
	q.CheckOpen(op)
	if !b.Out {
		b.Refuse(op)
	}
	q.bindNewUnlocked()
	if len(b.idle) == 0 {
		b.idle = append(b.idle, b.newAccessor(q))
	}
	last := len(b.idle) - 1
	r := b.idle[last]
	r.Scan.Query, b.idle = q, b.idle[:last]
	return r
}

// GiveBack ends an accessor's loop and makes its rows stale.
func (b *Borrow) GiveBack(r *Accessor) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	r.Scan.ExpireRows()
	b.idle = append(b.idle, r)
}

// Lookup returns the Lookup of the type for an accessor.
func Lookup(t *world.Type, op string, r *Accessor) *world.Lookup {
	if t == nil {
		t.WorldOrNil().Refuse(op)
	}
	r.Check(op)
	b := r.Borrow
	switch write := b.Access.Writes.Has(t.ID); {
	case t.World != b.World:
		panic(fmt.Sprintf("ecs: %s: %s and %s belong to different worlds", op, t.Name, b.Name))
	case b.Used.Has(t.ID), !write && b.Query.declares(t.ID):
	case write: // look-ups would see rows that others are writing
		panic(fmt.Sprintf("ecs: %s: %v of %s writes %s: rows of others may be being written",
			op, b.Query, b.Name, t.Name))
	default:
		panic(fmt.Sprintf("ecs: %s: %s does not use %s: declare it", op, b.Name, t.Name))
	}
	return b.LookupOf(t)
}

// Len returns the number of rows, matching or not.
func (p RowRange) Len() int { return int(p.N) }

// Row returns the index of the first row in its chunk.
func (p RowRange) Row() int { return int(p.Lo) }

// Joins returns p and next as one range. It returns false if next does not start in the same chunk
// where p ends.
func (p RowRange) Joins(next RowRange) (RowRange, bool) {
	if p.Binding != next.Binding || p.Pos != next.Pos || p.Lo+p.N != next.Lo {
		return p, false
	}
	p.N += next.N
	return p, true
}

// Done makes the accessor's last rows stale. r may be nil.
func (r *Accessor) Done() {
	if r != nil {
		r.Scan.ExpireRows()
	}
}
