package ecs

import (
	"fmt"
	"slices"
	"strings"

	"quarry/ecs/internal/match"
	"quarry/ecs/internal/value"
)

// Query finds the entities that match its terms. Archetypes are matched when a query or an
// archetype is created, never while iterating. A query belongs to the world's owner: one goroutine
// at a time. Loops over a query may be nested. For loops in several goroutines, see World.Share.
type Query struct {
	w         *World
	terms     []Term
	m         *match.Matching // nil once closed
	named     []*value.Shared // values of the Where terms; the query holds a reference to each
	bindings  []binding       // one per matching archetype, see look
	seen      uint64          // news.matched when bindings were last brought up to date; 0 means never
	replanned uint64          // news.replanned at that time
	lost      uint64          // Matching.Lost at that time
	access    []uint8         // by typeID: what loops may do with the type, see declared
	writes    bool            // some type may be written
	ofAll     bool            // made by NewQueryOfAll
	changed   []typeID        // types of the Changed terms
	maskedNew []typeID        // those of the terms that are Masked
	watched   []*sparseSet    // sets of sparse types among them
	sets      []rowTest       // tests that rows must pass by sparse types
	driver    Driver          // what loops go through, if there are such tests
	ordered   bool            // the query has an Ordered term
	ranges    []queryRange    // the Between terms
	masked    bool            // one of them, or of the Changed terms, is Masked
	pinned    bool            // since does not advance when a loop ends, see seam.PinSince
	since     uint32          // version that Changed and Ordered compare with; 0 means that everything is new
	whole     uint64          // news.unshared at which every row of the bindings matches, at any version, see look
}

// binding is a query's table for one archetype, and the only table that Slice consults. It says
// where the declared columns lie and what loops may do with them. A query binds its new matches
// before it runs.
type binding struct {
	a       *Archetype
	tests   []match.BitTest // enable-bit tests of the match
	lowest  uint            // typeID of the first entry of columns
	columns []place         // by typeID, from lowest on; flags 0: not declared; declared alone: declared, but not in the archetype
}

// columnOf returns the type's offset and what loops may do with the column.
func (t *binding) columnOf(id typeID) place {
	if i := uint(id) - t.lowest; i < uint(len(t.columns)) {
		return t.columns[i]
	}
	return place{}
}

// declared marks a type that the query gives access to, whether or not the archetype has it.
const declared = 1 << 7

// NewQuery creates a query from terms, in any order. Without terms the query matches every entity
// except those hidden by Prefab and DisabledEntity. NewQuery panics for a type of another world,
// for a type in two terms, and for Disabled of a type that is not Enableable.
//
// Until the query is closed, the world tests every new archetype that has one of the query's types
// against it, or every new archetype if the query requires no type. So create queries once, not in
// every frame. Queries with equal match conditions share their matches.
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
			// errors.md, Types, terms and handles: `names no type`, `a type is nil`, `only types,
			// Read and Write may stand there` | A term without a type, or of another term. | See
			// `go doc ecs.Term`.
			panic("ecs: NewQuery: " + termNames[t.kind] + " names no type")
		}
		for i := range t.of {
			q.declare(&t, i, &seen)
		}
		q.ordered = q.ordered || t.kind == termOrdered
		q.sets = t.appendTests(q.sets)
	}
	q.m = w.index.Matching(q.read())
	return q
}

// declare records the access and the versions that the i'th operand of a term asks for.
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
		if t.masked {
			q.maskedNew, q.masked = append(q.maskedNew, id), true
		}
		if o.t.place() == perEntity {
			q.watched = append(q.watched, o.t.sparse)
		}
		return
	}
	if kind == termBetween {
		q.ranges = append(q.ranges, queryRange{t.span, t.masked})
		q.masked = q.masked || t.masked
		return
	}
	if seen.Has(id) {
		// errors.md, Types, terms and handles: `ecs: NewQuery: ... is in two terms`, `is in two
		// Changed terms` | A type in two terms. | `Write` includes `Read` and `With`, and
		// `Where` includes `With`; only `Changed` and `Between` may come besides.
		panic(fmt.Sprintf("ecs: NewQuery: %s is in two terms", w.types.list[id].name))
	}
	seen.Add(id)
	if kind == termDisabled && !w.types.list[id].enableable {
		panic(fmt.Sprintf("ecs: NewQuery: Disabled %s: it was not registered with ecs.Enableable", w.types.list[id].name))
	}
	access := o.access
	if access != 0 {
		access |= declared
	}
	if t.shows(o) {
		access |= maySee
	}
	if access != 0 {
		for int(id) >= len(q.access) {
			q.access = append(q.access, 0)
		}
		q.access[id] = access
		q.writes = q.writes || access&mayWrite != 0
	}
}

// Close removes the query from its world, which then no longer tests new archetypes against it.
// Close panics inside a loop over the query and while the world is shared. A second call does
// nothing. Loops over a closed query panic.
func (q *Query) Close() {
	if q == nil || q.w == nil {
		q.refuse("Query.Close")
	}
	q.w.checkUnshared("Query.Close")
	if q.w.loopOver(q) {
		// errors.md, Loops and rows: `ecs: Query.Close: inside a loop over ...` | A query is closed
		// in its own loop. | Close it afterwards.
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

// Since returns the version that the Changed and Ordered terms compare with: the world's version
// when a loop last ran to its end, or the version given to SetSince.
func (q *Query) Since() uint32 { return q.since }

// SetSince sets the version that the Changed and Ordered terms compare with, as World.Version and
// World.Advance return it. Version 0 passes every chunk. SetSince panics while the world is shared.
func (q *Query) SetSince(version uint32) { q.setSince("Query.SetSince", version, false) }

func (q *Query) setSince(op string, version uint32, pinned bool) {
	if q == nil || q.w == nil {
		q.refuse(op)
	}
	q.w.checkUnshared(op)
	q.since, q.pinned = version, pinned
}

// matchesArchetype implements seam.MatchesArchetype.
func (q *Query) matchesArchetype(a *Archetype) (matches, bits bool) {
	q.checkOpen("seam.MatchesArchetype")
	if a == nil || a.w != q.w {
		panic("ecs: seam.MatchesArchetype: the archetype is nil or belongs to another world")
	}
	matches = q.m.Wants(&a.table)
	return matches, matches && (len(q.m.TestsOf(&a.table)) > 0 || q.tested())
}

// World returns the query's world, or nil if the query is closed.
func (q *Query) World() *World {
	if q == nil || q.m == nil {
		return nil
	}
	return q.w
}

// filters reports whether the query has Changed or Ordered terms, which filter chunks by version.
func (q *Query) filters() bool { return q.ordered || len(q.changed) > 0 }

// moves reports whether Since advances when a loop ends.
func (q *Query) moves() bool { return q.filters() && !q.pinned }

// asks reports whether the query has terms that are about the values of chunks: their versions, or
// the numbers in them.
func (q *Query) asks() bool { return q.filters() || len(q.ranges) > 0 }

// tested reports whether sparse types, ranges or versions of rows decide which rows match, in any
// archetype.
func (q *Query) tested() bool { return q.masked || len(q.sets) > 0 }

// skims reports whether versions, if since is not 0, or ranges decide which chunks pass.
func (q *Query) skims(since uint32) bool { return since != 0 && q.filters() || len(q.ranges) > 0 }

// passes reports whether the loop of a borrow, or of the owner if b is nil, shows n rows of a chunk
// from first on: by the Changed and Ordered terms, if since is not 0, and by the Between terms.
func (q *Query) passes(b *Borrow, a *Archetype, pos, first, n int, since uint32) bool {
	if since != 0 && q.filters() && !q.isNew(a, pos, since) {
		return false
	}
	for i := range q.ranges {
		if !q.ranges[i].passes(q, b, a, pos, first, n) {
			return false
		}
	}
	return true
}

// isNew reports whether a chunk is newer than since by one of the Changed and Ordered terms.
func (q *Query) isNew(a *Archetype, pos int, since uint32) bool {
	if q.ordered && newer(a.table.Books.Ordered(pos), since) {
		return true
	}
	for _, id := range q.changed {
		if int(id) < len(a.table.Places) && a.table.Places[id].Flags() != 0 && newer(a.table.Books.Changed(a.table.Places[id].Slot(), pos), since) {
			return true
		}
	}
	return len(q.watched) > 0 && q.passesSets(a, pos, since)
}

// String returns the terms, as in query(Write Position, Read Velocity).
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
	// errors.md, Loops and rows: `ecs: ...: ... is closed` | The query was closed. | Make queries
	// once and keep them.
	panic(fmt.Sprintf("ecs: %s: %v is closed", op, q))
}

// checkOpen panics if the query or its world is closed.
func (q *Query) checkOpen(op string) {
	if q == nil || q.m == nil || q.w.closed {
		q.refuse(op)
	}
}
