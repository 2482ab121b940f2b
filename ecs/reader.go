package ecs

import "fmt"

// RowRange is some rows of one chunk that a loan's query sees, the first a multiple of 64.
type RowRange struct {
	binding, pos uint32 // of the loan's bindings, and the chunk in the archetype's grid
	lo, n        uint32 // rows
}

// Len returns the number of rows, matching or not.
func (p RowRange) Len() int { return int(p.n) }

// Row returns where the first of the rows is in its chunk.
func (p RowRange) Row() int { return int(p.lo) }

// Joins returns the two as one, or false when next does not go on in the same chunk where
// p ends.
func (p RowRange) Joins(next RowRange) (RowRange, bool) {
	if p.binding != next.binding || p.pos != next.pos || p.lo+p.n != next.lo {
		return p, false
	}
	p.n += next.n
	return p, true
}

// Parts appends the rows of the loan's query to dst, cut into parts of grain rows at most,
// which is rounded up to 64s, in the order of Query.Rows. They depend on the rows that there
// are and on grain alone. Whether rows match Reader.Rows says. The loan must be out, and parts
// are good while it is. It panics when grain is less than 1.
func (l *Loan) Parts(dst []RowRange, grain int) []RowRange {
	l.check("Loan.Parts")
	if !l.out {
		l.refuse("Loan.Parts")
	}
	if grain < 1 {
		panic(fmt.Sprintf("ecs: Loan.Parts: grain=%d is less than 1", grain))
	}
	grain = (min(grain, mostRows) + 63) &^ 63
	for i := range l.own.bindings {
		g := &l.own.bindings[i].a.table.Grid
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

// Reader is one goroutine's use of a loan, in one flight after the other.
type Reader struct {
	l *Loan
	s scan
}

// Reader makes a reader, for any goroutine. Keep it: the loan knows it for ever.
func (l *Loan) Reader() *Reader {
	l.check("Loan.Reader")
	r := &Reader{l: l, s: scan{w: l.q.w, q: &l.own, loan: l}}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readers = append(l.readers, r)
	return r
}

func (r *Reader) check(op string) {
	if r == nil || r.l == nil {
		panic("ecs: " + op + ": the reader is nil or the zero value; readers come from Loan.Reader")
	}
	if !r.l.out {
		r.l.refuse(op)
	}
}

// Rows returns the rows of a part. Changed and Ordered terms and enable bits are looked at
// now; ok is false when no row matches. The reader's rows before are stale then. What the rows
// give is what they give in a loop, but that values of managed types are not made.
func (r *Reader) Rows(p RowRange) (rows Rows, ok bool) {
	r.check("Reader.Rows")
	l, s := r.l, &r.s
	s.turn()
	if int(p.binding) >= len(l.own.bindings) {
		r.refuse(p)
	}
	t := &l.own.bindings[p.binding]
	a, pos, first, n := t.a, int(p.pos), int(p.lo), int(p.n)
	if pos >= len(a.table.Grid.Chunks()) || n == 0 || first+n > a.table.Grid.RowsOf(pos) || first%64 != 0 {
		r.refuse(p)
	}
	if since := l.own.since; since != 0 && l.own.filters() && !l.own.passes(a, pos, since) {
		return Rows{}, false
	}
	dense := true
	if len(t.tests) > 0 {
		matching := s.filter(a, t.tests, pos, first, n)
		if matching == 0 {
			return Rows{}, false
		}
		dense = matching == n
	}
	at := a.table.Grid.Row(pos, 0)
	s.t, s.first = t, first
	s.show(pos, at.Scale, dense)
	return makeRows(s, at.Base, n), true
}

//go:noinline
func (r *Reader) refuse(p RowRange) {
	panic(fmt.Sprintf("ecs: Reader.Rows: %s has no such rows: %+v; parts are good from Begin to End", r.l.name, p))
}

// Done makes the last rows stale.
func (r *Reader) Done() {
	if r != nil {
		r.s.turn()
	}
}
