package ecs

import (
	"iter"
	"math/bits"
	"slices"
	"sync/atomic"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/match"
	"quarry/ecs/internal/table"
)

// Walks. Before a loop the query binds new matches; then the loop yields the chunks of all matches
// one after the other, with a mask where not every row matches. Loops of the owner and of readers,
// over all values or one (where.go), all call scan.walkOne, except the most common loop, which has
// a copy of its code in Query.walk.

// look brings the bindings up to date with the matches. Between two calls matches are only added,
// unless archetypes have left: then look makes all bindings anew.
func (q *Query) look() {
	if b := q.w.loops.shared(); b != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
	}
	q.lookAlone()
}

// lookAlone writes only when there is something new, so while the world is shared once: goroutines
// read what it wrote.
func (q *Query) lookAlone() {
	if q.upToDate() {
		return
	}
	if q.lost != q.m.Lost {
		q.bindings, q.lost = q.bindings[:0], q.m.Lost
	}
	if q.replanned != q.w.news.replanned {
		for i := range q.bindings {
			q.bindings[i].follow()
		}
		q.replanned = q.w.news.replanned
	}
	for i := len(q.bindings); i < len(q.m.Matches); i++ {
		q.bindings = append(q.bindings, q.bindingOf(&q.m.Matches[i]))
	}
	q.seen = q.w.news.matched
	q.whole = 0
	if !q.filters() && !slices.ContainsFunc(q.bindings, func(t binding) bool { return len(t.tests) > 0 }) {
		q.whole = q.w.news.matched
	}
}

// upToDate reports whether there is nothing to do for look.
func (q *Query) upToDate() bool { return q.seen == q.w.news.matched }

func (q *Query) bindingOf(m *match.Match) binding {
	t := binding{a: whole(m.Archetype), tests: m.Tests}
	first := true
	for id, access := range q.access {
		if access == 0 {
			continue
		}
		if first {
			t.lowest, first = uint(id), false
			t.columns = make([]place, len(q.access)-id)
		}
		p := table.MakePlace(0, 0, declared)
		if id < len(t.a.table.Places) && t.a.table.Places[id].Flags() != 0 {
			p = t.a.table.Places[id].With(access)
		}
		t.columns[id-int(t.lowest)] = p
	}
	return t
}

// follow looks up where the columns lie, after archetypes got other layouts. What may be
// done with them stays.
func (t *binding) follow() {
	for i := range t.columns {
		if id := int(t.lowest) + i; t.columns[i].Flags()&(mayRead|lentRead) != 0 && id < len(t.a.table.Places) {
			t.columns[i].Offset = t.a.table.Places[id].Offset
		}
	}
}

// Rows yields the matching rows, one chunk at a time: archetypes in order of
// creation, chunks and rows in order. A chunk with a matching row is yielded
// whole, with a mask when not every row matches. The world is locked against
// structural changes while the loop runs: an iter.Pull over it must be stopped. It
// allocates nothing. A loop over a query with Changed or Ordered terms that ends
// without break moves Since to now and advances the world's version, so that the
// next loop sees what is written from then on, and not what this one wrote; those of
// package system do so once an update. While the world is shared it does neither, and panics
// for a query with Write.
func (q *Query) Rows() iter.Seq[Rows] {
	return func(yield func(Rows) bool) { q.walk(yield) }
}

func (q *Query) walk(yield func(Rows) bool) {
	if q == nil || q.m == nil || q.whole != q.w.news.unshared {
		if !q.prepare() {
			q.walkPart(yield)
			return
		}
	}
	w := q.w
	s := w.idleScan()
	w.lock(s, q)
	defer s.end()
	// This is scan.walk for the commonest queries, where it is not a call of its own: a
	// loop over one row is little else.
	bindings := q.bindings
	for i := range bindings {
		t := &bindings[i]
		g := &t.a.table.Store
		if g.Len() == 0 {
			continue
		}
		s.t = t
		for pos := 0; pos < len(g.Chunks()); pos++ {
			c := &g.Chunks()[pos]
			scale := int(g.Scale(c.Order))
			n := min(g.PerUnit()*scale>>alloc.UnitOrder, g.Len()-c.Start)
			s.show(pos, uintptr(scale), true)
			// Safe because the chunk is one of the world's universe.
			base := unsafe.Add(s.w.base, uintptr(c.First)*alloc.SmallChunkSize)
			if !yield(makeRows(s, base, n)) {
				return
			}
		}
	}
}

// prepare makes ready for a loop by Rows. It reports whether the loop shows all rows of
// the bindings, and is the owner's only.
//
//go:noinline
func (q *Query) prepare() bool {
	q.ready("Query.Rows")
	return q.whole == q.w.news.unshared
}

// ready panics when the owner may not loop over the query now, and looks.
func (q *Query) ready(op string) {
	q.checkOpen(op)
	if len(q.w.loops.borrows) > 0 {
		q.checkLent(op, false)
	}
	q.look()
}

// checkLent panics when a loop over the query would access types that are lent; with looks only
// the bits and versions count that decide which rows match.
func (q *Query) checkLent(op string, looks bool) {
	for i := range q.terms {
		t := &q.terms[i]
		for _, o := range t.of {
			if access := t.accessTo(o, looks); access != 0 {
				o.t.checkLent(op, access)
			}
		}
	}
}

// walkPart is walk of a query that may pass some of the chunks, or of their rows.
func (q *Query) walkPart(yield func(Rows) bool) {
	s := q.w.openScan(q)
	defer s.end()
	if s.walk(q, yield) && q.moves() && !q.w.isShared() {
		q.since = q.w.tables.Version
		q.w.Advance()
	}
}

// walk shows the chunks of q with their masks, until the end or until yield returns
// false.
func (s *scan) walk(q *Query, yield func(Rows) bool) (ended bool) {
	since := q.since // as it is now: a loop inside this one may move it
	filters := since != 0 && q.filters()
	for i := range q.bindings {
		t := &q.bindings[i]
		if t.a.table.Store.Len() > 0 && !s.walkOne(q, t, filters, since, yield) {
			return false
		}
	}
	return true
}

// walkOne shows the chunks of one archetype.
func (s *scan) walkOne(q *Query, t *binding, filters bool, since uint32, yield func(Rows) bool) (ended bool) {
	a := t.a
	s.t = t
	for pos := range a.table.Store.Chunks() {
		if filters && !q.passes(a, pos, since) {
			continue
		}
		n, dense := a.table.Store.RowsOf(pos), true
		if len(t.tests) > 0 {
			matching := s.filter(a, t.tests, pos, 0, n)
			if matching == 0 {
				continue
			}
			dense = matching == n
		}
		at := a.table.Store.Row(pos, 0)
		s.show(pos, at.Scale, dense)
		if !yield(makeRows(s, at.Base, n)) {
			return false
		}
	}
	return true
}

// filter computes the snapshot of matching rows among n of a chunk, from first on, which is a
// multiple of 64. It returns how many match; the mask is filled when that is neither 0 nor n.
// Counts of enabled rows decide most chunks without a look at their bits.
func (s *scan) filter(a *Archetype, tests []match.BitTest, pos, first, n int) (matching int) {
	left := len(tests) // tests that are not decided
	all := a.table.Store.RowsOf(pos)
	for i := range tests {
		t := &tests[i]
		if len(t.Slots) > 1 {
			continue
		}
		switch a.table.Books.Bits(t.Slots[0], pos).On() {
		case all:
			if t.Invert != 0 {
				return 0
			}
			left--
		case 0:
			if t.Invert == 0 {
				return 0
			}
			left--
		}
	}
	if left == 0 {
		return n
	}
	words := s.words(n)
	setRows(words, n)
	for i := range tests {
		a.narrow(&tests[i], pos, first/64, words)
	}
	for _, word := range words {
		matching += bits.OnesCount64(word)
	}
	return matching
}

// narrow takes the rows out of a mask, whose first word is that of a chunk at from, that fail a
// test. Goroutines may toggle bits meanwhile, see World.Share.
func (a *Archetype) narrow(t *match.BitTest, pos, from int, mask []uint64) {
	if len(t.Slots) == 1 {
		enabled := a.table.Books.Bits(t.Slots[0], pos).Words()[from:]
		for i := range mask {
			mask[i] &= atomic.LoadUint64(&enabled[i]) ^ t.Invert
		}
		return
	}
	for i := range mask {
		either := uint64(0)
		for _, slot := range t.Slots {
			either |= atomic.LoadUint64(&a.table.Books.Bits(slot, pos).Words()[from+i])
		}
		mask[i] &= either
	}
}
