package ecs

import (
	"slices"

	"quarry/ecs/internal/match"
	"quarry/layout"
)

// CorruptKinds breaks W11 of a world that has an archetype with rows and a shared value that is
// not "other", which a query names too. It returns what puts it right.
func (w *World) CorruptKinds(invariant string) (restore func()) {
	var a *Archetype
	for _, b := range w.archetypes.list {
		if len(b.values) > 0 && b.table.Grid.Len() > 0 {
			a = b
		}
	}
	v := a.values[0]
	was, values := *v, a.values
	put := func() { *v = was; a.values = values }
	switch invariant {
	case "W11 count":
		v.refs++
		return put
	case "W11 serial":
		a.table.Values[0]++
		return func() { a.table.Values[0]-- }
	case "W11 found":
		v.v = "other"
		return put
	case "W11 none":
		a.values = nil
		return put
	case "W11 two":
		a.values = append(slices.Clone(values), v)
		return put
	case "W11 foreign":
		stranger := was
		a.values = []*value{&stranger}
		return put
	case "W11 unknown":
		v.t.shared.leave(v)
		return func() { v.t.shared.enter(v) }
	case "W11 idle":
		idle := v.t.shared.same("other")
		idle.t.shared.enter(idle)
		return func() { idle.t.shared.leave(idle) }
	case "W11 query":
		m := w.index.Matching(match.Filter{Where: [][]uint64{{v.serial}}})
		return func() { w.index.Drop(m) }
	case "W11 query of none":
		m := w.index.Matching(match.Filter{Where: [][]uint64{{v.serial + 100}}})
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
