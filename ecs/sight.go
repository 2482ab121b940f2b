package ecs

import (
	"slices"

	"quarry/ecs/internal/match"
	"quarry/ecs/internal/table"
)

// Sights: what a query sees of an archetype. It is the one table that Slice asks: where
// the columns lie that the query declares, and what may be done with them. A query
// makes the sights of its matches when it runs and there are new ones.

// sight is an archetype as a query's loops see it.
type sight struct {
	a       *Archetype
	tests   []match.BitTest // of the match
	lowest  uint            // typeID that the table begins with
	columns []place         // by typeID from lowest on; flags 0: not declared; declared alone: absent
}

// declared marks a type that a query gives access to, in archetypes that have it or
// not.
const declared = 1 << 7

// columnOf returns where a type lies and what may be done with it.
func (t *sight) columnOf(id typeID) place {
	if i := uint(id) - t.lowest; i < uint(len(t.columns)) {
		return t.columns[i]
	}
	return place{}
}

// look brings the sights up to date with the matches. Those only become more between two
// looks, unless some of them were given up: then all are made anew.
func (q *Query) look() {
	if p := q.w.loops.phase; p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
	}
	q.lookAlone()
}

// lookAlone writes only when there is something new, so in a phase once: goroutines
// read what it wrote.
func (q *Query) lookAlone() {
	if q.upToDate() {
		return
	}
	if q.lost != q.m.Lost {
		q.sights, q.lost = q.sights[:0], q.m.Lost
	}
	if q.replanned != q.w.news.replanned {
		for i := range q.sights {
			q.sights[i].follow()
		}
		q.replanned = q.w.news.replanned
	}
	for i := len(q.sights); i < len(q.m.Matches); i++ {
		q.sights = append(q.sights, q.sightOf(&q.m.Matches[i]))
	}
	q.seen = q.w.news.matched
	q.whole = 0
	if !q.filters() && !slices.ContainsFunc(q.sights, func(t sight) bool { return len(t.tests) > 0 }) {
		q.whole = q.w.news.matched
	}
}

// follow looks up where the columns lie, after archetypes got other layouts. What may be
// done with them stays.
func (t *sight) follow() {
	for i := range t.columns {
		if id := int(t.lowest) + i; t.columns[i].Flags()&(mayRead|lentRead) != 0 && id < len(t.a.table.Places) {
			t.columns[i].Offset = t.a.table.Places[id].Offset
		}
	}
}

// upToDate reports whether there is nothing to do for look.
func (q *Query) upToDate() bool { return q.seen == q.w.news.matched }

func (q *Query) sightOf(m *match.Match) sight {
	t := sight{a: whole(m.Archetype), tests: m.Tests}
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
