package ecs

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/match"
	"quarry/ecs/internal/value"
)

// Query finds the entities that match its terms. Archetypes are matched when
// the query or the archetype is made, never while iterating. It belongs to the
// world's owner: one goroutine at a time; loops over it may be nested. For loops in
// several goroutines see World.Share.
type Query struct {
	w         *World
	terms     []Term
	m         *match.Matching // nil: closed
	named     []*value.Shared // of the Where terms, held
	sights    []sight         // of the matches, see look
	seen      uint64          // news.matched when they were up to date; 0: never
	replanned uint64          // news.replanned then
	lost      uint64          // Matching.Lost then
	access    []uint8         // by typeID: what loops may do with the type, see declared
	writes    bool            // some type may be written
	changed   []typeID        // of the Changed terms
	ordered   bool            // there is an Ordered term
	pinned    bool            // since stays when loops end, see PinSince
	since     uint32          // version that Changed and Ordered compare with; 0: everything is new
	whole     uint64          // news.unshared at which every row of the sights matches, in any version: see look
}

// NewQuery makes a query. The order of the terms does not matter. It panics for
// a type of another world, for a type in two terms, and for Disabled of a type that
// is not Enableable. Until it is closed the world shows it new archetypes that have a type which it
// asks for, or all where it asks for none, so make queries once, not in every frame. Queries that
// match alike share what they have found. Without terms a query matches every entity but those that Prefab and
// DisabledEntity hide.
func NewQuery(w *World, terms ...Term) *Query {
	w.checkNew("NewQuery")
	q := &Query{w: w, terms: slices.Clone(terms)}
	var seen signature
	for _, t := range terms {
		if len(t.of) == 0 && t.kind < termOrdered {
			if t.kind == termRead {
				panic("ecs: NewQuery: a term is the zero value; terms come from Read, Write, With and so on")
			}
			panic("ecs: NewQuery: " + termNames[t.kind] + " names no type")
		}
		for i := range t.of {
			q.declare(&t, i, &seen)
		}
		q.ordered = q.ordered || t.kind == termOrdered
	}
	q.m = w.index.Matching(q.read())
	return q
}

// declare notes what the i'th operand of a term says of access and versions.
func (q *Query) declare(t *Term, i int, seen *signature) {
	w, kind, o := q.w, t.kind, t.of[i]
	w.checkOwn("NewQuery", o.t)
	id := o.t.id
	for _, before := range t.of[:i] {
		if before.t == o.t {
			panic(fmt.Sprintf("ecs: NewQuery: %s names %s twice", termNames[kind], w.types.list[id].name))
		}
	}
	if kind == termChanged {
		if slices.Contains(q.changed, id) {
			panic(fmt.Sprintf("ecs: NewQuery: %s is in two Changed terms", w.types.list[id].name))
		}
		q.changed = append(q.changed, id)
		return
	}
	if seen.Has(id) {
		panic(fmt.Sprintf("ecs: NewQuery: %s is in two terms", w.types.list[id].name))
	}
	seen.Add(id)
	if kind == termDisabled && !w.types.list[id].enableable {
		panic(fmt.Sprintf("ecs: NewQuery: Disabled %s: it was not registered with ecs.Enableable", w.types.list[id].name))
	}
	if o.access != 0 {
		for int(id) >= len(q.access) {
			q.access = append(q.access, 0)
		}
		q.access[id] = o.access | declared
		q.writes = q.writes || o.access&mayWrite != 0
	}
}

// Close takes the query out of its world, which stops showing it new archetypes.
// It panics inside a loop over the query and while the world is shared; a second
// call does nothing. Using a closed query panics.
func (q *Query) Close() {
	if q == nil || q.w == nil {
		q.refuse("Query.Close")
	}
	q.w.checkUnshared("Query.Close")
	if q.w.loopOver(q) {
		panic(fmt.Sprintf("ecs: Query.Close: inside a loop over %v", q))
	}
	q.w.Settle("Query.Close")
	if q.m != nil && !q.w.closed {
		q.w.index.Drop(q.m)
		for _, v := range q.named {
			v.LetGo()
		}
	}
	q.m = nil
}

// Since returns the version that the Changed and Ordered terms compare with: that
// at the end of the last loop that ran to its end, or what SetSince or PinSince gave.
func (q *Query) Since() uint32 { return q.since }

// SetSince makes the Changed and Ordered terms compare with another version, as
// World.Version and Advance give; 0 passes everything. It panics while the world is
// shared.
func (q *Query) SetSince(version uint32) { q.setSince("Query.SetSince", version, false) }

// PinSince is SetSince for good: until SetSince is called, loops that end and loans that
// begin neither move Since nor advance the world's version. It serves who moves the
// version of many queries at once, and runs each any number of times in between.
func (q *Query) PinSince(version uint32) { q.setSince("Query.PinSince", version, true) }

func (q *Query) setSince(op string, version uint32, pinned bool) {
	if q == nil || q.w == nil {
		q.refuse(op)
	}
	q.w.checkUnshared(op)
	q.since, q.pinned = version, pinned
}

// MatchesArchetype reports whether entities of an archetype can match, and whether enable
// bits decide then which of them do. Changed and Ordered terms are not asked.
func (q *Query) MatchesArchetype(a *Archetype) (matches, bits bool) {
	q.checkOpen("Query.MatchesArchetype")
	if a == nil || a.w != q.w {
		panic("ecs: Query.MatchesArchetype: the archetype is nil or belongs to another world")
	}
	matches = q.m.Wants(&a.table)
	return matches, matches && len(q.m.TestsOf(&a.table)) > 0
}

// World returns the query's world, nil when the query was closed.
func (q *Query) World() *World {
	if q == nil || q.m == nil {
		return nil
	}
	return q.w
}

// Filters reports whether the query has Changed or Ordered terms.
func (q *Query) Filters() bool { return q.filters() }

// filters reports whether chunks are passed by their versions.
func (q *Query) filters() bool { return q.ordered || len(q.changed) > 0 }

// moves reports whether Since moves on with a loop that ends.
func (q *Query) moves() bool { return q.filters() && !q.pinned }

// passes reports whether a chunk is newer than since by one of the Changed and
// Ordered terms.
func (q *Query) passes(a *Archetype, pos int, since uint32) bool {
	if q.ordered && newer(a.table.Books.Ordered(pos), since) {
		return true
	}
	for _, id := range q.changed {
		if int(id) < len(a.table.Places) && a.table.Places[id].Flags() != 0 && newer(a.table.Books.Changed(a.table.Places[id].Slot(), pos), since) {
			return true
		}
	}
	return false
}

// Rows yields the matching rows, one chunk at a time: archetypes in order of
// creation, chunks and rows in order. A chunk with a matching row is yielded
// whole, with a mask when not every row matches. The world is locked against
// structural changes while the loop runs: an iter.Pull over it must be stopped. It
// allocates nothing. A loop over a query with Changed or Ordered terms that ends
// without break moves Since to now and advances the world's version, so that the
// next loop sees what is written from then on, and not what this one wrote; but see
// PinSince. While the world is shared it does neither, and panics for a query with Write.
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
	sights := q.sights
	for i := range sights {
		t := &sights[i]
		g := &t.a.table.Grid
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
			base := unsafe.Add(s.w.base, uintptr(c.First)*alloc.EighthSize)
			if !yield(makeRows(s, base, n)) {
				return
			}
		}
	}
}

// prepare makes ready for a loop by Rows. It reports whether the loop shows all rows of
// the sights, and is the owner's only.
//
//go:noinline
func (q *Query) prepare() bool {
	q.checkOpen("Query.Rows")
	if q.w.loops.phase != nil && q.writes {
		q.w.loops.phase.refuse("Query.Rows")
	}
	if len(q.w.loops.loans) > 0 {
		q.checkLent("Query.Rows")
	}
	q.look()
	return q.whole == q.w.news.unshared
}

// walkPart is walk of a query that may pass some of the chunks, or of their rows.
func (q *Query) walkPart(yield func(Rows) bool) {
	s := q.w.openScan(q)
	defer s.end()
	if s.walk(q, yield) && q.moves() && q.w.loops.phase == nil {
		q.since = q.w.tables.Version
		q.w.Advance()
	}
}

// walk shows the chunks of q with their masks, until the end or until yield returns
// false.
func (s *scan) walk(q *Query, yield func(Rows) bool) (ended bool) {
	since := q.since // as it is now: a loop inside this one may move it
	filters := since != 0 && q.filters()
	for i := range q.sights {
		t := &q.sights[i]
		if t.a.table.Grid.Len() > 0 && !s.walkOne(q, t, filters, since, yield) {
			return false
		}
	}
	return true
}

// walkOne shows the chunks of one archetype.
func (s *scan) walkOne(q *Query, t *sight, filters bool, since uint32, yield func(Rows) bool) (ended bool) {
	a := t.a
	s.t = t
	for pos := range a.table.Grid.Chunks() {
		if filters && !q.passes(a, pos, since) {
			continue
		}
		n, dense := a.table.Grid.RowsOf(pos), true
		if len(t.tests) > 0 {
			matching := s.filter(a, t.tests, pos, 0, n)
			if matching == 0 {
				continue
			}
			dense = matching == n
		}
		at := a.table.Grid.Row(pos, 0)
		s.show(pos, at.Scale, dense)
		if !yield(makeRows(s, at.Base, n)) {
			return false
		}
	}
	return true
}

// String prints the terms, as query(Write Position, Read Velocity).
func (q *Query) String() string {
	parts := make([]string, len(q.terms))
	for i, t := range q.terms {
		parts[i] = t.String()
	}
	return "query(" + strings.Join(parts, ", ") + ")"
}

//go:noinline
func (q *Query) refuse(op string) {
	if q == nil || q.w == nil {
		panic("ecs: " + op + ": the query is nil or the zero value; queries come from NewQuery")
	}
	if q.w.closed {
		q.w.refuse(op)
	}
	panic(fmt.Sprintf("ecs: %s: %v is closed", op, q))
}

// checkOpen panics for a query that was closed, or whose world was.
func (q *Query) checkOpen(op string) {
	if q == nil || q.m == nil || q.w.closed {
		q.refuse(op)
	}
}
