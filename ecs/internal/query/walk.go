package query

import (
	"math/bits"
	"slices"
	"sync/atomic"
	"unsafe"

	"quarry/ecs/internal/match"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/world"
	"quarry/internal/store"
)

// Walks. Before a loop the query binds its new matches. The loop then yields the chunks of all
// matches one after the other, with a mask if not every row matches. Loops over archetypes, of the
// owner and of a borrow's goroutines, over all values or one (where.go), call Scan.walkOne; the
// most common one is the exception: Query.Walk has a copy of the code. Loops over the entries of a
// set are in drive.go, and Accessor.Rows yields ranges of chunks.

// bindNew brings the bindings up to date with the matches. Between two calls matches are only
// added, unless archetypes have left; then it recreates all bindings.
func (q *Query) bindNew() {
	if b := q.World.Loops.Lent(); b != nil {
		b.Mu.Lock()
		defer b.Mu.Unlock()
	}
	q.bindNewUnlocked()
}

// bindNewUnlocked is bindNew without the lock. It writes only if something is new, so at most once
// while the world is lent; goroutines then read the result.
func (q *Query) bindNewUnlocked() {
	if q.upToDate() {
		return
	}
	if q.lost != q.Matching.Lost {
		q.Bindings, q.lost = q.Bindings[:0], q.Matching.Lost
	}
	if q.replanned != q.World.QueryEpochs.Replanned {
		for i := range q.Bindings {
			q.Bindings[i].follow(q)
		}
		q.replanned = q.World.QueryEpochs.Replanned
	}
	for i := len(q.Bindings); i < len(q.Matching.Matches); i++ {
		q.Bindings = append(q.Bindings, q.BindingOf(&q.Matching.Matches[i], q.World.Types.List))
	}
	q.seen = q.World.QueryEpochs.Matched
	ownerSeen := uint64(0) // stored at once: goroutines to which the world is lent read it without the lock
	if !q.FiltersChunks() && len(q.Sets) == 0 &&
		!slices.ContainsFunc(q.Bindings, func(t Binding) bool { return len(t.tests) > 0 }) {
		ownerSeen = q.World.QueryEpochs.Matched
	}
	atomic.StoreUint64(&q.ownerSeen, ownerSeen)
}

// upToDate reports whether bindNew has nothing to do.
func (q *Query) upToDate() bool { return q.seen == q.World.QueryEpochs.Matched }

// BindingOf returns the query's table for an archetype, whose types are in a list by number.
func (q *Query) BindingOf(m *match.Match, types []*world.Type) Binding {
	t := Binding{Archetype: world.ArchetypeOfMatch(m.Entry), tests: m.Tests}
	first := true
	for id, access := range q.Allowed {
		if access == 0 {
			continue
		}
		if first {
			t.Lowest, first = uint(id), false
			t.Columns = make([]world.Place, len(q.Allowed)-id)
		}
		p := table.MakePlace(0, 0, declared)
		switch {
		case id < len(t.Archetype.Table.Places) && t.Archetype.Table.Places[id].Flags() != 0:
			p = t.Archetype.Table.Places[id].With(q.accessNow(id, types))
		case id < len(types) && types[id].Place() == world.PerEntity:
			p = p.With(access)
		}
		t.Columns[id-int(t.Lowest)] = p
	}
	return t
}

// accessNow returns what loops may do with a column of a type: by the short way, or, if writes of
// the type need to know the rows, by the long one.
func (q *Query) accessNow(id int, types []*world.Type) uint8 {
	if access := q.Allowed[id]; types[id].NeedsBarrier() {
		return world.WithBarrier(access)
	}
	return q.Allowed[id]
}

// follow updates the columns' places after an archetype got another layout, and after the first
// snapshot has come or the last has gone.
func (t *Binding) follow(q *Query) {
	for i := range t.Columns {
		if id := int(t.Lowest) + i; t.Columns[i].Flags()&(world.MayRead|world.BarrierRead) != 0 &&
			id < len(t.Archetype.Table.Places) && t.Archetype.Table.Places[id].Flags() != 0 {
			t.Columns[i] = t.Archetype.Table.Places[id].With(q.accessNow(id, q.World.Types.List))
		}
	}
}

// Walk is ecs.Query.Rows.
func (q *Query) Walk(yield func(Rows) bool) {
	if q == nil || q.Matching == nil || atomic.LoadUint64(&q.ownerSeen) != q.World.QueryEpochs.OwnerMatched {
		if !q.prepare() {
			q.walkPart(yield)
			return
		}
	}
	w := q.World
	s := idleScan(w)
	lock(w, s, q)
	defer s.End()
	// This is Scan.Walk for the most common queries, inlined by hand: a loop over a single row
	// costs little more than the call would.
	bindings := q.Bindings
	for i := range bindings {
		t := &bindings[i]
		g := &t.Archetype.Table.Store
		if g.Len() == 0 {
			continue
		}
		s.Binding = t
		for pos := 0; pos < len(g.Chunks()); pos++ {
			c := &g.Chunks()[pos]
			scale := int(g.Scale(c.Order))
			n := min(g.PerUnit()*scale>>store.UnitOrder, g.Len()-c.Start)
			s.MoveTo(pos, uintptr(scale), true)
			// Safe because the chunk is one of the world's universe.
			base := unsafe.Add(s.World.Base, uintptr(c.First)*store.SmallSize)
			if !yield(MakeRows(s, base, n)) {
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
	q.Ready("Query.Rows")
	return atomic.LoadUint64(&q.ownerSeen) == q.World.QueryEpochs.OwnerMatched
}

// Ready panics if the owner may not loop over the query now, and then updates the bindings.
func (q *Query) Ready(op string) {
	q.CheckOpen(op)
	if len(q.World.Loops.Borrows) > 0 {
		q.CheckLent(op, false)
	}
	q.bindNew()
}

// CheckLent panics if a loop over the query would access types that are lent. With looks only the
// enable bits and versions that decide which rows match count.
func (q *Query) CheckLent(op string, looks bool) {
	for i := range q.Terms {
		t := &q.Terms[i]
		for _, o := range t.Of {
			if access := t.accessTo(o, looks); access != 0 {
				o.Type.CheckLent(op, access)
			}
		}
	}
}

// walkPart is walk for a query that may skip some chunks or rows.
func (q *Query) walkPart(yield func(Rows) bool) {
	if b := LoanOf(q.World); b != nil {
		r := b.Take("Query.Rows", q)
		defer b.GiveBack(r)
		r.Scan.Walk(q, yield)
		return
	}
	s := OpenScan(q.World, q)
	defer s.End()
	if s.Walk(q, yield) && q.advancesSince() {
		q.Since = q.World.Tables.Version
		q.World.Advance()
	}
}

// Walk yields the chunks of q with their masks, until the end or until yield returns false.
func (s *Scan) Walk(q *Query, yield func(Rows) bool) (ended bool) {
	since := q.Since // as it is now: a loop inside this one may move it
	s.Since = since
	filters := q.MaySkipChunks(since)
	if set := q.driving(); set != nil {
		return s.walkSet(q, set, filters, since, yield)
	}
	for i := range q.Bindings {
		t := &q.Bindings[i]
		if t.Archetype.Table.Store.Len() > 0 && !s.walkOne(q, t, filters, since, yield) {
			return false
		}
	}
	return true
}

// walkOne yields the chunks of one archetype.
func (s *Scan) walkOne(q *Query, t *Binding, filters bool, since uint32, yield func(Rows) bool) (ended bool) {
	a := t.Archetype
	s.Binding = t
	for pos := range a.Table.Store.Chunks() {
		if filters && !q.ChunkPasses(s.Borrow, a, pos, 0, a.Table.Store.RowsOf(pos), since) {
			continue
		}
		if rows, ok := s.Chunk(pos); ok && !yield(rows) {
			return false
		}
	}
	return true
}

// Chunk moves the loop to a chunk of the binding's archetype; ok is false if no row matches.
func (s *Scan) Chunk(pos int) (rows Rows, ok bool) {
	t := s.Binding
	a := t.Archetype
	n, dense := a.Table.Store.RowsOf(pos), true
	if len(t.tests) > 0 || s.Query.tested() {
		matching := s.Match(a, t.tests, pos, 0, n)
		if matching == 0 {
			return Rows{}, false
		}
		dense = matching == n
	}
	at := a.Table.Store.Row(pos, 0)
	s.MoveTo(pos, at.Scale, dense)
	return MakeRows(s, at.Base, n), true
}

// Match computes the mask of matching rows as filter does, and narrows it by the query's Masked
// terms.
func (s *Scan) Match(a *world.Archetype, tests []match.BitTest, pos, first, n int) (matching int) {
	if matching = n; len(tests)+len(s.Query.Sets) > 0 {
		matching = s.filter(a, tests, s.Query.Sets, pos, first, n)
	}
	if s.Query.Masked && matching > 0 {
		matching = s.narrowMasked(a, pos, first, n, matching)
	}
	return matching
}

// filter computes the mask of matching rows, a copy that later toggles do not change, among n rows
// of a chunk, starting at first, a multiple of 64. It returns the number of matches; the mask is
// valid only if that is neither 0 nor n. Counts of enabled rows decide most chunks without reading
// their bits. While the world is shared they do not: where goroutines switch one entity's bit at
// the same time, its count is off for a moment by more than the bit.
func (s *Scan) filter(a *world.Archetype, tests []match.BitTest, sets []sparseFilter, pos, first,
	n int) (matching int) {
	left := len(tests) // tests that are not decided
	all, lent := a.Table.Store.RowsOf(pos), s.lentWhole()
	for i := range tests {
		t := &tests[i]
		if len(t.Slots) > 1 || lent {
			continue
		}
		switch a.Table.Metadata.Bits(t.Slots[0], pos).On() {
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
	words := s.maskFor(n)
	fillMask(words, n)
	return narrowByTests(a, tests, sets, pos, first, n, words)
}

// narrowByTests clears the bits of rows that fail a test, in the words of n rows from first on, and
// returns how many bits are left.
func narrowByTests(a *world.Archetype, tests []match.BitTest, sets []sparseFilter, pos, first, n int,
	words []uint64) (matching int) {
	for i := range tests {
		narrowByBits(a, &tests[i], pos, first/64, words)
	}
	for i := range sets {
		sets[i].narrow(a, pos, first, n, words)
	}
	for _, word := range words {
		matching += bits.OnesCount64(word)
	}
	return matching
}

// narrowByBits clears the bits of rows that fail a test. The first word of the mask corresponds to
// word from of the chunk. Goroutines may toggle bits meanwhile, see World.Lend.
func narrowByBits(a *world.Archetype, t *match.BitTest, pos, from int, mask []uint64) {
	if len(t.Slots) == 1 {
		enabled := a.Table.Metadata.Bits(t.Slots[0], pos).Words()[from:]
		for i := range mask {
			mask[i] &= atomic.LoadUint64(&enabled[i]) ^ t.Invert
		}
		return
	}
	for i := range mask {
		either := uint64(0)
		for _, slot := range t.Slots {
			either |= atomic.LoadUint64(&a.Table.Metadata.Bits(slot, pos).Words()[from+i])
		}
		mask[i] &= either
	}
}
