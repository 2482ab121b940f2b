package query

import (
	"fmt"

	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// WalkOf is ecs.Query.Where.
func (q *Query) WalkOf(of world.SharedValue, yield func(Rows) bool) {
	q.Ready("Query.Where")
	q.CheckValue("Query.Where", of)
	if b := LoanOf(q.World); b != nil {
		r := b.Take("Query.Where", q)
		defer b.GiveBack(r)
		r.Scan.WalkOf(q, of.Value, yield)
		return
	}
	s := OpenScan(q.World, q)
	defer s.End()
	s.WalkOf(q, of.Value, yield)
}

// CheckValue panics for the zero value and for a value of another world.
func (q *Query) CheckValue(op string, of world.SharedValue) {
	if of.Value == nil {
		panic("ecs: " + op + ": the value is the zero value; values come from Shared.Of")
	}
	if of.Type.World != q.World {
		panic(fmt.Sprintf("ecs: %s: %v and %v belong to different worlds", op, of, q))
	}
}

// WalkOf yields the chunks of the archetypes that have a value.
func (s *Scan) WalkOf(q *Query, of *value.Shared, yield func(Rows) bool) {
	since := q.Since
	s.Since = since
	filters := q.MaySkipChunks(since)
	for _, set := range q.World.Index.ArchetypesOfValue(of.Canonical().Serial) {
		a := world.ArchetypeOfMatch(set)
		if a.Table.Store.Len() == 0 {
			continue
		}
		if t := q.FindBinding(a); t != nil && !s.walkOne(q, t, filters, since, yield) {
			return
		}
	}
}

// FindBinding returns the query's binding of an archetype, or nil.
func (q *Query) FindBinding(a *world.Archetype) *Binding {
	if i := q.bindingAt(a); i >= 0 {
		return &q.Bindings[i]
	}
	return nil
}
