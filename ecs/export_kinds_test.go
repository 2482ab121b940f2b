package ecs

import (
	"slices"

	"quarry/ecs/internal/match"
	"quarry/ecs/internal/value"
	"quarry/layout"
)

// CorruptKinds breaks W11 of a world that has an archetype with rows and a shared value that is
// not zero, which a query names too. It returns what puts it right.
func (w *World) CorruptKinds(invariant string) (restore func()) {
	var a *Archetype
	for _, b := range w.core.Archetypes.List {
		if len(b.Values) > 0 && b.Table.Store.Len() > 0 {
			a = archetypeFrom(b)
		}
	}
	v, values := a.core.Values[0], a.core.Values
	put := func() { a.core.Values = values }
	switch invariant {
	case "W11 count":
		v.Hold()
		return v.LetGo
	case "W11 serial":
		a.core.Table.Values[0]++
		return func() { a.core.Table.Values[0]-- }
	case "W11 none":
		a.core.Values = nil
		return put
	case "W11 two":
		a.core.Values = append(slices.Clone(values), v)
		return put
	case "W11 foreign":
		stranger := *v
		a.core.Values = []*value.Shared{&stranger}
		return put
	case "W11 unknown":
		unknown := w.core.Types.List[v.Type].Shared.Zero()
		a.core.Values, a.core.Table.Values = []*value.Shared{unknown}, []uint64{unknown.Serial}
		return func() { a.core.Values, a.core.Table.Values = values, []uint64{v.Serial} }
	case "W11 idle":
		idle := w.core.Types.List[v.Type].Shared.Zero()
		idle.Hold()
		return idle.LetGo
	case "W11 query":
		m := w.core.Index.Matching(match.Filter{Where: [][]uint64{{v.Serial}}})
		return func() { w.core.Index.Drop(m) }
	case "W11 query of none":
		m := w.core.Index.Matching(match.Filter{Where: [][]uint64{{v.Serial + 100}}})
		return func() { w.core.Index.Drop(m) }
	}
	return nil
}

// LongestFields returns how many entries the longest list has of what Hash reads of a value.
func (w *World) LongestFields() (most int) {
	for _, t := range w.core.Types.List {
		most = max(most, entriesOf(t.Fields))
	}
	return most
}

func entriesOf(fields []layout.Field) (n int) {
	for _, f := range fields {
		n += 1 + entriesOf(f.Each)
	}
	return n
}
