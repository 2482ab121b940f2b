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

// Walks. Before a loop the query binds its new matches. The loop then yields the chunks of all
// matches one after the other, with a mask if not every row matches. All loops, of the owner and of
// a borrow's goroutines, over all values or one (where.go), call scan.walkOne. The most common loop
// is the exception: Query.walk has a copy of the code.

// look brings the bindings up to date with the matches. Between two calls matches are only added,
// unless archetypes have left; then look recreates all bindings.
func (q *Query) look() {
	if b := q.w.loops.shared(); b != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
	}
	q.lookAlone()
}

// lookAlone is look without the lock. It writes only if something is new, so at most once while the
// world is shared; goroutines then read the result.
func (q *Query) lookAlone() {
	if q.upToDate() {
		return
	}
	if q.lost != q.m.Lost {
		q.bindings, q.lost = q.bindings[:0], q.m.Lost
	}
	if q.replanned != q.w.news.replanned {
		for i := range q.bindings {
			q.bindings[i].follow(q)
		}
		q.replanned = q.w.news.replanned
	}
	for i := len(q.bindings); i < len(q.m.Matches); i++ {
		q.bindings = append(q.bindings, q.bindingOf(&q.m.Matches[i], q.w.types.list))
	}
	q.seen = q.w.news.matched
	q.whole = 0
	if !q.asks() && len(q.sets) == 0 && !slices.ContainsFunc(q.bindings, func(t binding) bool { return len(t.tests) > 0 }) {
		q.whole = q.w.news.matched
	}
}

// upToDate reports whether look has nothing to do.
func (q *Query) upToDate() bool { return q.seen == q.w.news.matched }

// bindingOf returns the query's table for an archetype, whose types are in a list by number.
func (q *Query) bindingOf(m *match.Match, types []*typeInfo) binding {
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
		switch {
		case id < len(t.a.table.Places) && t.a.table.Places[id].Flags() != 0:
			p = t.a.table.Places[id].With(q.accessNow(id, types))
		case id < len(types) && types[id].place() == perEntity:
			p = p.With(access)
		}
		t.columns[id-int(t.lowest)] = p
	}
	return t
}

// accessNow returns what loops may do with a column of a type: by the short way, or, if writes of
// the type need to know the rows, by the long one.
func (q *Query) accessNow(id int, types []*typeInfo) uint8 {
	if access := q.access[id]; types[id].gates() {
		return gated(access)
	}
	return q.access[id]
}

// follow updates the columns' places after an archetype got another layout, and after the first
// snapshot has come or the last has gone.
func (t *binding) follow(q *Query) {
	for i := range t.columns {
		if id := int(t.lowest) + i; t.columns[i].Flags()&(mayRead|gatedRead) != 0 && id < len(t.a.table.Places) && t.a.table.Places[id].Flags() != 0 {
			t.columns[i] = t.a.table.Places[id].With(q.accessNow(id, q.w.types.list))
		}
	}
}

// Rows yields the matching rows, one chunk at a time: archetypes in order of creation, chunks and
// rows in order. A chunk with at least one matching row is yielded whole, with a mask if not every
// row matches. Rows allocates nothing. The world is locked against structural changes while the
// loop runs, so an iter.Pull over Rows must be stopped.
//
// When a loop over a query with Changed or Ordered terms runs to its end, it sets Since to the
// current version and advances the world's version: the next loop sees later writes, but not the
// writes of this loop. A break prevents that. Loops in package system advance once per update
// instead. While the world is shared, Rows does not advance versions, and panics for a query with
// Write.
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
	// This is scan.walk for the most common queries, inlined by hand: a loop over a single row
	// costs little more than the call would.
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

// prepare gets the query ready for a loop by Rows. It reports whether the loop yields all rows of
// the bindings and belongs to the owner alone.
//
//go:noinline
func (q *Query) prepare() bool {
	q.ready("Query.Rows")
	return q.whole == q.w.news.unshared
}

// ready panics if the owner may not loop over the query now, and then updates the bindings.
func (q *Query) ready(op string) {
	q.checkOpen(op)
	if len(q.w.loops.borrows) > 0 {
		q.checkLent(op, false)
	}
	q.look()
}

// checkLent panics if a loop over the query would access types that are lent. With looks only the
// enable bits and versions that decide which rows match count.
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

// walkPart is walk for a query that may skip some chunks or rows.
func (q *Query) walkPart(yield func(Rows) bool) {
	s := q.w.openScan(q)
	defer s.end()
	if s.walk(q, yield) && q.moves() && !q.w.Shared() {
		q.since = q.w.tables.Version
		q.w.Advance()
	}
}

// walk yields the chunks of q with their masks, until the end or until yield returns false.
func (s *scan) walk(q *Query, yield func(Rows) bool) (ended bool) {
	since := q.since // as it is now: a loop inside this one may move it
	s.since = since
	filters := q.skims(since)
	if set := q.driving(); set != nil {
		return s.walkSet(q, set, filters, since, yield)
	}
	for i := range q.bindings {
		t := &q.bindings[i]
		if t.a.table.Store.Len() > 0 && !s.walkOne(q, t, filters, since, yield) {
			return false
		}
	}
	return true
}

// walkOne yields the chunks of one archetype.
func (s *scan) walkOne(q *Query, t *binding, filters bool, since uint32, yield func(Rows) bool) (ended bool) {
	a := t.a
	s.t = t
	for pos := range a.table.Store.Chunks() {
		if filters && !q.passes(s.b, a, pos, 0, a.table.Store.RowsOf(pos), since) {
			continue
		}
		if rows, ok := s.chunk(pos); ok && !yield(rows) {
			return false
		}
	}
	return true
}

// chunk moves the loop to a chunk of the binding's archetype; ok is false if no row matches.
func (s *scan) chunk(pos int) (rows Rows, ok bool) {
	t := s.t
	a := t.a
	n, dense := a.table.Store.RowsOf(pos), true
	if len(t.tests) > 0 || s.q.tested() {
		matching := s.match(a, t.tests, pos, 0, n)
		if matching == 0 {
			return Rows{}, false
		}
		dense = matching == n
	}
	at := a.table.Store.Row(pos, 0)
	s.show(pos, at.Scale, dense)
	return makeRows(s, at.Base, n), true
}

// match computes the snapshot as filter does, and narrows it by the query's Masked terms.
func (s *scan) match(a *Archetype, tests []match.BitTest, pos, first, n int) (matching int) {
	if matching = n; len(tests)+len(s.q.sets) > 0 {
		matching = s.filter(a, tests, s.q.sets, pos, first, n)
	}
	if s.q.masked && matching > 0 {
		matching = s.narrow(a, pos, first, n, matching)
	}
	return matching
}

// filter computes the snapshot of matching rows among n rows of a chunk, starting at first, a
// multiple of 64. It returns the number of matches; the mask is valid only if that is neither 0 nor
// n. Counts of enabled rows decide most chunks without reading their bits. While the world is
// shared they do not: where goroutines switch one entity's bit at the same time, its count is off
// for a moment by more than the bit.
func (s *scan) filter(a *Archetype, tests []match.BitTest, sets []rowTest, pos, first, n int) (matching int) {
	left := len(tests) // tests that are not decided
	all, shared := a.table.Store.RowsOf(pos), s.shared()
	for i := range tests {
		t := &tests[i]
		if len(t.Slots) > 1 || shared {
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
	if left == 0 && len(sets) == 0 {
		return n
	}
	words := s.words(n)
	setRows(words, n)
	return a.narrowed(tests, sets, pos, first, n, words)
}

// narrowed clears the bits of rows that fail a test, in the words of n rows from first on, and
// returns how many bits are left.
func (a *Archetype) narrowed(tests []match.BitTest, sets []rowTest, pos, first, n int, words []uint64) (matching int) {
	for i := range tests {
		a.narrow(&tests[i], pos, first/64, words)
	}
	for i := range sets {
		sets[i].narrow(a, pos, first, n, words)
	}
	for _, word := range words {
		matching += bits.OnesCount64(word)
	}
	return matching
}

// narrow clears the bits of rows that fail a test. The first word of the mask corresponds to word
// from of the chunk. Goroutines may toggle bits meanwhile, see World.Share.
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
