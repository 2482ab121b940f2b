package ecs

import (
	"quarry/ecs/internal/match"
	"quarry/ecs/internal/value"
)

// From terms to a filter. Package match knows no terms: a query's terms become sets of types and
// lists of serials once, when the query is created.

// read turns the query's terms into a filter, and holds the values that Where terms name.
func (q *Query) read() (f match.Filter) {
	var named signature
	hide := [2]bool{true, true}
	for _, t := range q.terms {
		switch t.kind {
		case termIncludeDisabled:
			hide[disabledID] = false
		case termIncludePrefabs:
			hide[prefabID] = false
		case termAny:
			if t.isSparse() { // a test of each row
				for _, o := range t.of {
					named.Add(o.t.id)
				}
				continue
			}
			f.Any = append(f.Any, signature{})
		case termWhere:
			values := value.HoldAll(t.values)
			q.named = append(q.named, values...)
			f.Where = append(f.Where, serialsOf(values))
		}
		for _, o := range t.of {
			id := o.t.id
			if o.t.place() == perEntity {
				continue // no archetype has it
			}
			if t.kind != termChanged && t.kind != termBetween {
				named.Add(id)
			}
			ask(&f, t.kind, id, q.w.types.list[id].enableable)
		}
	}
	for id, hidden := range hide {
		if hidden && !named.Has(typeID(id)) {
			f.Lacks.Add(typeID(id))
		}
	}
	return f
}

// ask adds to the filter the condition that a term sets for one of its types. toggles tells whether
// the type has enable bits.
func ask(f *match.Filter, kind termKind, id typeID, toggles bool) {
	switch kind {
	case termRead, termWrite, termWith, termWhere:
		f.Has.Add(id)
		if toggles {
			f.Enabled.Add(id)
		}
	case termDisabled:
		f.Has.Add(id)
		f.Disabled.Add(id)
	case termPresent, termBetween:
		f.Has.Add(id)
	case termAbsent:
		f.Lacks.Add(id)
	case termWithout:
		if toggles {
			f.Disabled.Add(id)
		} else {
			f.Lacks.Add(id)
		}
	case termAny:
		f.Any[len(f.Any)-1].Add(id)
	}
}

// serialsOf returns the serials of values, in their order.
func serialsOf(values []*value.Shared) []uint64 {
	serials := make([]uint64, len(values))
	for i, v := range values {
		serials[i] = v.Serial
	}
	return serials
}
