package match

import "slices"

// Corrupt breaks one numbered invariant of an index with several archetypes of value 1, none of
// value 77, and a matching m of several of them, that names values 1 and 2 and came to the list of
// 2 behind another. It returns what puts that right.
func (x *Index) Corrupt(m *Matching, invariant string) (restore func()) {
	if restore = m.corruptMatches(invariant); restore == nil {
		restore = x.corruptRolls(m, invariant)
	}
	if restore != nil {
		return restore
	}
	first, s := x.archetypes[0], x.byValue[1]
	list := s.archetypes
	put := func() { s.archetypes = list }
	switch invariant {
	case "M1":
		first.Index++
		return func() { first.Index-- }
	case "M1 types":
		id := first.Types[0]
		first.Sig.Drop(id)
		return func() { first.Sig.Add(id) }
	case "M1 left":
		first.Closed = true
		return func() { first.Closed = false }
	case "M1 count":
		x.archetypes = append(x.archetypes, first)
		return func() { x.archetypes = x.archetypes[:len(x.archetypes)-1] }
	case "M4 fewer":
		s.archetypes = list[1:]
		return put
	case "M4 order":
		s.archetypes = slices.Clone(list)
		slices.Reverse(s.archetypes)
		return put
	case "M4 idle":
		x.byValue[77] = new(valueIndex)
		return func() { delete(x.byValue, 77) }
	case "M4 none":
		delete(x.byValue, 1)
		return func() { x.byValue[1] = s }
	}
	return nil
}

// corruptMatches is Corrupt of M2 and M5.
func (m *Matching) corruptMatches(invariant string) (restore func()) {
	matches, queries := m.Matches, m.queries
	put := func() { m.Matches, m.queries = matches, queries }
	switch invariant {
	case "M2 fewer":
		m.Matches = matches[:len(matches)-1]
		return put
	case "M2 more":
		m.Matches = append(slices.Clone(matches), matches[0])
		return put
	case "M2 order":
		m.Matches = slices.Clone(matches)
		slices.Reverse(m.Matches)
		return put
	case "M2 tests":
		m.Matches = slices.Clone(matches)
		m.Matches[0].Tests = append(slices.Clone(matches[0].Tests), BitTest{})
		return put
	case "M5 key":
		m.Lacks.Add(1000)
		return func() { m.Lacks.Drop(1000) }
	case "M5 two":
		two := *m
		two.alike = nil
		m.alike = &two
		return func() { m.alike = nil }
	case "M5 queries":
		m.queries = 0
		return put
	}
	return nil
}

// corruptRolls is Corrupt of M3, and of M5 where a matching is not found.
func (x *Index) corruptRolls(m *Matching, invariant string) (restore func()) {
	s := x.byValue[1]
	listed, positions := s.matchings, m.positions
	switch invariant {
	case "M3 position":
		m.positions[1].at++
		return func() { m.positions[1].at-- }
	case "M3 undemanding":
		x.undemanding = append(x.undemanding, posting{m, 0})
		return func() { x.undemanding = x.undemanding[:len(x.undemanding)-1] }
	case "M3 twice":
		s.matchings = append(s.matchings, s.matchings[0])
		return func() { s.matchings = listed }
	case "M3 fewer": // it stands in the list of the first of its values only
		last := positions[len(positions)-1]
		m.positions = positions[:len(positions)-1]
		was := *last.in
		*last.in = was[:last.at]
		return func() { m.positions, *last.in = positions, was }
	case "M5 lost":
		delete(x.byFilter, m.key)
		return func() { x.byFilter[m.key] = m }
	}
	return nil
}

// FewKeys gives filters of an empty index four keys, so that most share one with others.
func (x *Index) FewKeys() { x.keys = 3 }

// Values returns how many values have a list.
func (x *Index) Values() int { return len(x.byValue) }

// Positions counts the positions in all posting lists.
func (x *Index) Positions() (n int) {
	n = len(x.matchings) + len(x.undemanding)
	for _, r := range x.byType {
		if r != nil {
			n += len(*r)
		}
	}
	for _, s := range x.byValue {
		n += len(s.matchings)
	}
	return n
}
