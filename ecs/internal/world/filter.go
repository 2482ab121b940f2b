package world

import (
	"quarry/ecs/internal/match"
	"quarry/ecs/internal/value"
)

// From terms to a filter. Package match knows no terms: a query's terms become sets of types and
// lists of serials once, when the query is created.

// Read turns the query's terms into a filter, and holds the values that Where terms name.
func (q *Query) Read() (f match.Filter) {
	var named Signature
	hide := [2]bool{true, true}
	for _, t := range q.Terms {
		switch t.Kind {
		case TermIncludeDisabled:
			hide[disabledID] = false
		case TermIncludePrefabs:
			hide[prefabID] = false
		case TermAny:
			if t.isSparse() { // a test of each row
				for _, o := range t.Of {
					named.Add(o.Type.ID)
				}
				continue
			}
			f.Any = append(f.Any, Signature{})
		case TermWhere:
			values := value.HoldAll(t.Values)
			q.named = append(q.named, values...)
			f.Where = append(f.Where, serialsOf(values))
		}
		for _, o := range t.Of {
			id := o.Type.ID
			if o.Type.Place() == PerEntity {
				continue // no archetype has it
			}
			if t.Kind != TermChanged && t.Kind != TermBetween {
				named.Add(id)
			}
			ask(&f, t.Kind, id, q.World.Types.List[id].Enableable)
		}
	}
	for id, hidden := range hide {
		if hidden && !named.Has(TypeID(id)) {
			f.Lacks.Add(TypeID(id))
		}
	}
	return f
}

// ask adds to the filter the condition that a term sets for one of its types. toggles tells whether
// the type has enable bits.
func ask(f *match.Filter, kind TermKind, id TypeID, toggles bool) {
	switch kind {
	case TermRead, TermWrite, TermWith, TermWhere:
		f.Has.Add(id)
		if toggles {
			f.Enabled.Add(id)
		}
	case TermDisabled:
		f.Has.Add(id)
		f.Disabled.Add(id)
	case TermPresent, TermBetween:
		f.Has.Add(id)
	case TermAbsent:
		f.Lacks.Add(id)
	case TermWithout:
		if toggles {
			f.Disabled.Add(id)
		} else {
			f.Lacks.Add(id)
		}
	case TermAny:
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
