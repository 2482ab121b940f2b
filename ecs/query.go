package ecs

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Term is one condition of a query; the same terms say what the query's loops
// may access.
type Term struct {
	kind termKind
	t    Type
}

type termKind uint8

const (
	termRead termKind = iota
	termWrite
	termWith
	termWithout
)

var termNames = [...]string{"Read", "Write", "With", "Without"}

// Read matches entities that have t, enabled, and lets loops read it.
func Read(t Type) Term { return Term{termRead, t} }

// Write matches entities that have t, enabled, and lets loops write it: taking
// its slice marks the chunk's column changed.
func Write(t Type) Term { return Term{termWrite, t} }

// With matches entities that have t, enabled, without access to it.
func With(t Type) Term { return Term{termWith, t} }

// Without matches entities that do not have t, or have it disabled.
func Without(t Type) Term { return Term{termWithout, t} }

// Query finds the entities that match its terms. Archetypes are matched when
// the query or the archetype is made, never while iterating. It belongs to the
// world's owner: one goroutine at a time; loops over it may be nested.
type Query struct {
	w       *World
	terms   []Term
	has     signature // types that an archetype must have
	lacks   signature // types that it must not have
	matches []match   // in order of the archetypes' creation (W5)
}

// match is an archetype that a query matches.
type match struct {
	a     *Archetype
	place []place   // what the query declares of it, by typeID
	tests []bitTest // enable bits that decide per row; none: every row matches
}

// bitTest is one enableable type's part in a mask.
type bitTest struct {
	slot   uint16 // in the archetype
	invert uint64 // all ones for Without, else 0
}

// NewQuery makes a query. The order of the terms does not matter. It panics for
// a type of another world and for a type in two terms. The world keeps it and
// shows it every new archetype, so make queries once, not in every frame.
func NewQuery(w *World, terms ...Term) *Query {
	if w.closed {
		panic("ecs: NewQuery: the world is closed")
	}
	q := &Query{w: w, terms: slices.Clone(terms)}
	var seen signature
	for _, t := range terms {
		id := w.idOf("NewQuery", t.t)
		if seen.has(id) {
			panic(fmt.Sprintf("ecs: NewQuery: %s is in two terms", w.types[id].name))
		}
		seen.add(id)
		switch {
		case t.kind != termWithout:
			q.has.add(id)
		case !w.types[id].enableable:
			q.lacks.add(id)
		}
	}
	w.queries = append(w.queries, q)
	for _, a := range w.archetypes {
		q.consider(a)
	}
	return q
}

// consider adds a to the matches when it matches. Each archetype is considered
// once.
func (q *Query) consider(a *Archetype) {
	if !q.wants(a) {
		return
	}
	m := match{a: a, place: make([]place, len(q.w.types))}
	for _, t := range q.terms {
		_, id := t.t.handle()
		if !a.sig.has(id) {
			continue
		}
		p := a.place[id]
		if q.w.types[id].enableable {
			test := bitTest{slot: p.slot}
			if t.kind == termWithout {
				test.invert = ^uint64(0)
			}
			m.tests = append(m.tests, test)
		}
		switch t.kind {
		case termRead:
			p.flags = mayRead
		case termWrite:
			p.flags = mayRead | mayWrite
		default:
			continue
		}
		m.place[id] = p
	}
	q.matches = append(q.matches, m)
}

func (q *Query) wants(a *Archetype) bool {
	for i := range a.sig {
		if a.sig[i]&q.has[i] != q.has[i] || a.sig[i]&q.lacks[i] != 0 {
			return false
		}
	}
	return true
}

// Rows yields the matching rows, one chunk at a time: archetypes in order of
// creation, chunks and rows in order. A chunk with a matching row is yielded
// whole, with a mask when not every row matches. The world is locked against
// structural changes while the loop runs: an iter.Pull over it must be stopped. It
// allocates nothing.
func (q *Query) Rows() iter.Seq[Rows] {
	return func(yield func(Rows) bool) { q.walk(yield) }
}

func (q *Query) walk(yield func(Rows) bool) {
	w := q.w
	s := w.openScan(q)
	defer w.closeScan(s)
	for i := range q.matches {
		m := &q.matches[i]
		a := m.a
		if a.grid.Len() == 0 {
			continue
		}
		s.enter(a, m.place)
		for pos := range a.grid.Chunks() {
			n, dense := a.grid.RowsOf(pos), true
			if len(m.tests) > 0 {
				matching := s.filter(a, m.tests, pos, n)
				if matching == 0 {
					continue
				}
				dense = matching == n
			}
			at := a.grid.Row(pos, 0)
			s.show(pos, at.Order, dense)
			if !yield(makeRows(s, at.Base, 0, n)) {
				return
			}
		}
	}
}

// Count returns the number of entities that match. Cost: per archetype, or per
// chunk where enable bits decide.
func (q *Query) Count() int {
	if q.w.closed {
		q.w.refuse("Query.Count")
	}
	total := 0
	var s scan
	for i := range q.matches {
		m := &q.matches[i]
		if len(m.tests) == 0 {
			total += m.a.grid.Len()
			continue
		}
		for pos := range m.a.grid.Chunks() {
			total += s.filter(m.a, m.tests, pos, m.a.grid.RowsOf(pos))
		}
	}
	return total
}

// String prints the terms, as query(Write Position, Read Velocity).
func (q *Query) String() string {
	parts := make([]string, len(q.terms))
	for i, t := range q.terms {
		_, id := t.t.handle()
		parts[i] = termNames[t.kind] + " " + q.w.types[id].name
	}
	return "query(" + strings.Join(parts, ", ") + ")"
}
