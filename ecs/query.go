package ecs

import (
	"fmt"
	"slices"
	"strings"

	"quarry/ecs/internal/match"
	"quarry/ecs/internal/value"
)

// Query finds the entities that match its terms. Archetypes are matched when the query or the
// archetype is made, never while iterating. It belongs to the world's owner: one goroutine at a
// time; loops over it may be nested. For loops in several goroutines see World.Share.
type Query struct {
	w         *World
	terms     []Term
	m         *match.Matching // nil: closed
	named     []*value.Shared // of the Where terms, held
	bindings  []binding       // of the matches, see look
	seen      uint64          // news.matched when they were up to date; 0: never
	replanned uint64          // news.replanned then
	lost      uint64          // Matching.Lost then
	access    []uint8         // by typeID: what loops may do with the type, see declared
	writes    bool            // some type may be written
	changed   []typeID        // of the Changed terms
	ordered   bool            // there is an Ordered term
	pinned    bool            // since stays when loops end, see seam.PinSince
	since     uint32          // version that Changed and Ordered compare with; 0: everything is new
	whole     uint64          // news.unshared at which every row of the bindings matches, in any version: see look
}

// binding is a query's table for one archetype, the only one that Slice asks: where the columns lie
// that the query declares, and what loops may do with them. A query that runs makes bindings for
// its new matches first.
type binding struct {
	a       *Archetype
	tests   []match.BitTest // of the match
	lowest  uint            // typeID that the table begins with
	columns []place         // by typeID from lowest on; flags 0: not declared; declared alone: absent
}

// columnOf returns where a type lies and what may be done with it.
func (t *binding) columnOf(id typeID) place {
	if i := uint(id) - t.lowest; i < uint(len(t.columns)) {
		return t.columns[i]
	}
	return place{}
}

// declared marks a type that a query gives access to, in archetypes that have it or not.
const declared = 1 << 7

// NewQuery makes a query. The order of the terms does not matter. It panics for a type of another
// world, for a type in two terms, and for Disabled of a type that is not Enableable. Until it is
// closed the world shows it new archetypes that have a type which it asks for, or all where it asks
// for none, so make queries once, not in every frame. Queries that match alike share what they have
// found. Without terms a query matches every entity but those that Prefab and DisabledEntity hide.
func NewQuery(w *World, terms ...Term) *Query {
	w.checkNew("NewQuery")
	w.checkUnshared("NewQuery") // it enters the index of archetypes and the list of queries
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

// Close takes the query out of its world, which stops showing it new archetypes. It panics inside a
// loop over the query and while the world is shared; a second call does nothing. Using a closed
// query panics.
func (q *Query) Close() {
	if q == nil || q.w == nil {
		q.refuse("Query.Close")
	}
	q.w.checkUnshared("Query.Close")
	if q.w.loopOver(q) {
		panic(fmt.Sprintf("ecs: Query.Close: inside a loop over %v", q))
	}
	q.w.endBorrows("Query.Close")
	if q.m != nil && !q.w.closed {
		q.w.index.Drop(q.m)
		for _, v := range q.named {
			v.LetGo()
		}
	}
	q.m = nil
}

// Since returns the version that the Changed and Ordered terms compare with: that at the end of the
// last loop that ran to its end, or what SetSince gave.
func (q *Query) Since() uint32 { return q.since }

// SetSince makes the Changed and Ordered terms compare with another version, as World.Version and
// Advance give; 0 passes everything. It panics while the world is shared.
func (q *Query) SetSince(version uint32) { q.setSince("Query.SetSince", version, false) }

func (q *Query) setSince(op string, version uint32, pinned bool) {
	if q == nil || q.w == nil {
		q.refuse(op)
	}
	q.w.checkUnshared(op)
	q.since, q.pinned = version, pinned
}

// matchesArchetype is seam.MatchesArchetype.
func (q *Query) matchesArchetype(a *Archetype) (matches, bits bool) {
	q.checkOpen("seam.MatchesArchetype")
	if a == nil || a.w != q.w {
		panic("ecs: seam.MatchesArchetype: the archetype is nil or belongs to another world")
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

// filters reports whether the query has Changed or Ordered terms: whether chunks are passed by
// their versions.
func (q *Query) filters() bool { return q.ordered || len(q.changed) > 0 }

// moves reports whether Since moves on with a loop that ends.
func (q *Query) moves() bool { return q.filters() && !q.pinned }

// passes reports whether a chunk is newer than since by one of the Changed and Ordered terms.
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
