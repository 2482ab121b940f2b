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
	for _, b := range w.archetypes.list {
		if len(b.values) > 0 && b.table.Store.Len() > 0 {
			a = b
		}
	}
	v, values := a.values[0], a.values
	put := func() { a.values = values }
	switch invariant {
	case "W11 count":
		v.Hold()
		return v.LetGo
	case "W11 serial":
		a.table.Values[0]++
		return func() { a.table.Values[0]-- }
	case "W11 none":
		a.values = nil
		return put
	case "W11 two":
		a.values = append(slices.Clone(values), v)
		return put
	case "W11 foreign":
		stranger := *v
		a.values = []*value.Shared{&stranger}
		return put
	case "W11 unknown":
		unknown := w.types.list[v.Type].shared.Zero()
		a.values, a.table.Values = []*value.Shared{unknown}, []uint64{unknown.Serial}
		return func() { a.values, a.table.Values = values, []uint64{v.Serial} }
	case "W11 idle":
		idle := w.types.list[v.Type].shared.Zero()
		idle.Hold()
		return idle.LetGo
	case "W11 query":
		m := w.index.Matching(match.Filter{Where: [][]uint64{{v.Serial}}})
		return func() { w.index.Drop(m) }
	case "W11 query of none":
		m := w.index.Matching(match.Filter{Where: [][]uint64{{v.Serial + 100}}})
		return func() { w.index.Drop(m) }
	}
	return nil
}

// LongestFields returns how many entries the longest list has of what Hash reads of a value.
func (w *World) LongestFields() (most int) {
	for _, t := range w.types.list {
		most = max(most, entriesOf(t.fields))
	}
	return most
}

func entriesOf(fields []layout.Field) (n int) {
	for _, f := range fields {
		n += 1 + entriesOf(f.Each)
	}
	return n
}
