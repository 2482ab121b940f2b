package ecs

import (
	"fmt"
	"iter"

	"quarry/ecs/internal/value"
)

// RowsOf yields the query's rows whose entities have the given shared value. It is like Rows but
// does not advance Since. It serves values that change from call to call, such as the cells around
// a ship, without a query for each value. Cost: a search among the query's archetypes for each
// archetype of the value, whatever the number of values. It panics for a value of another world.
func (q *Query) RowsOf(value SharedValue) iter.Seq[Rows] {
	return func(yield func(Rows) bool) { q.walkOf(value, yield) }
}

func (q *Query) walkOf(of SharedValue, yield func(Rows) bool) {
	q.ready("Query.RowsOf")
	q.checkValue("Query.RowsOf", of)
	s := q.w.openScan(q)
	defer s.end()
	s.walkOf(q, of.v, yield)
}

// checkValue panics for the zero value and for a value of another world.
func (q *Query) checkValue(op string, of SharedValue) {
	if of.v == nil {
		panic("ecs: " + op + ": the value is the zero value; values come from Shared.Of")
	}
	if of.t.w != q.w {
		panic(fmt.Sprintf("ecs: %s: %v and %v belong to different worlds", op, of, q))
	}
}

// walkOf yields the chunks of the archetypes that have a value.
func (s *scan) walkOf(q *Query, of *value.Shared, yield func(Rows) bool) {
	since := q.since
	s.since = since
	filters := q.skims(since)
	for _, set := range q.w.index.Sharers(of.Canonical().Serial) {
		a := whole(set)
		if a.table.Store.Len() == 0 {
			continue
		}
		if t := q.findBinding(a); t != nil && !s.walkOne(q, t, filters, since, yield) {
			return
		}
	}
}

// findBinding returns the query's binding of an archetype, or nil.
func (q *Query) findBinding(a *Archetype) *binding {
	if i := q.bindingAt(a); i >= 0 {
		return &q.bindings[i]
	}
	return nil
}

// bindingAt returns the index of the query's binding of an archetype, or -1. Bindings and archetype
// numbers are both in order of creation. So a binding's position is its archetype's number, less at
// most the number of archetypes without a binding. Most queries by value match nearly all
// archetypes of a type, so the search visits few bindings.
func (q *Query) bindingAt(a *Archetype) int {
	at := int(a.table.Index)
	low, high := max(0, at+len(q.bindings)-len(q.w.archetypes.list)), min(at+1, len(q.bindings))
	for low < high {
		mid := int(uint(low+high) / 2)
		if int(q.bindings[mid].a.table.Index) < at {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < len(q.bindings) && q.bindings[low].a == a {
		return low
	}
	return -1
}
