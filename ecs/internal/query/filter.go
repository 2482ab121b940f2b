package query

import (
	"quarry/ecs/internal/match"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// From terms to a filter. Package match knows no terms: a query's terms become sets of types and
// lists of serials once, when the query is created.

// Read turns the query's terms into a filter, and holds the values that Where terms name.
func (q *Query) Read() (f match.Filter) {
	var named world.Signature
	hide := [2]bool{true, true}
	for _, t := range q.Terms {
		switch t.Kind {
		case TermIncludeDisabled:
			hide[world.DisabledID] = false
		case TermIncludePrefabs:
			hide[world.PrefabID] = false
		case TermAny:
			if t.isSparse() { // a test of each row
				for _, o := range t.Of {
					named.Add(o.Type.ID)
				}
				continue
			}
			f.Any = append(f.Any, world.Signature{})
		case TermWhere:
			values := value.HoldAll(t.Values)
			q.named = append(q.named, values...)
			f.Where = append(f.Where, world.SerialsOf(values))
		}
		for _, o := range t.Of {
			id := o.Type.ID
			if o.Type.Place() == world.PerEntity {
				continue // no archetype has it
			}
			if t.Kind != TermChanged && t.Kind != TermBetween {
				named.Add(id)
			}
			ask(&f, t.Kind, id, q.World.Types.List[id].Enableable)
		}
	}
	for id, hidden := range hide {
		if hidden && !named.Has(world.TypeID(id)) {
			f.Lacks.Add(world.TypeID(id))
		}
	}
	return f
}

// ask adds to the filter the condition that a term sets for one of its types. toggles is whether
// the type has enable bits.
func ask(f *match.Filter, kind TermKind, id world.TypeID, toggles bool) {
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
