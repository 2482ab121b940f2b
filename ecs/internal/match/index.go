package match

import (
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
)

// The index. Equal filters share one matching, found by a hash of the filter. A matching's list
// grows when an archetype is made, never during an iteration. A filter is compared with an
// archetype's signature of 16 words once for required types and once for excluded types
// (docs/decisions/0012 compares that with hashing). Posting lists have the matchings to compare
// (postings.go):
//
//	Enter(a)      postings of a's types and values --> matchings --> Wants? --> Matches
//	Matching(f)   all archetypes, or those of f's values --> Wants? --> Matches
//
// Many archetypes may leave in one call; each list that loses some is walked once.
//
// Invariants, checked by Verify:
//
//	M1 An archetype's Index is its position in the index, and its Types are the types of
//	   its Signature. No archetype is Closed.
//	M2 A matching lists exactly the archetypes that its filter wants, in order, with
//	   the filter's tests for each.
//	M3 A matching is in posting lists exactly at its positions, at most once in each. Each
//	   archetype that the matching may want looks at one of those lists.
//	M4 A value has a valueIndex exactly when an archetype has it or a matching names it. It
//	   lists exactly the archetypes that have the value, in order.
//	M5 Each matching is found by its filter, no two have equal filters, and each has queries.

// Index has the archetypes of a world and the matchings of its queries. It must not be copied.
type Index struct {
	seed        maphash.Seed           // of the hash of filters
	keys        uint64                 // mask of the hash bits in Matching.key: all; fewer in tests
	archetypes  []*Entry               // in order of creation (M1)
	matchings   postings               // all of them
	byFilter    map[uint64]*Matching   // by Matching.key: the newest matching, whose alike leads to the others (M5)
	byType      []*postings            // by TypeID: matchings that ask for the type; nil if none has asked so far
	undemanding postings               // matchings that ask for no type and no value
	byValue     map[uint64]*valueIndex // by serial (M4)
	asked       uint64                 // number of calls of CandidateMatchings
}

// Open initializes a zero index.
func (x *Index) Open() {
	x.seed, x.keys = maphash.MakeSeed(), ^uint64(0)
}

// Close removes all archetypes and matchings.
func (x *Index) Close() { *x = Index{} }

// Enter appends an archetype to the index, and adds it to the matchings that want it.
func (x *Index) Enter(a *Entry) {
	a.Index = uint32(len(x.archetypes))
	x.archetypes = append(x.archetypes, a)
	for _, serial := range a.Values {
		s := x.valueIndexOf(serial)
		s.archetypes = append(s.archetypes, a)
	}
	for m := range x.CandidateMatchings(a) {
		m.consider(a)
	}
}

// Leave removes the Closed archetypes. The others keep their order and are renumbered. Cost: one
// step for each archetype of the index, each chunk of archetypes after the first that leaves, and
// each match of the matchings that lose one.
func (x *Index) Leave() {
	var losing []*Matching
	var values []uint64
	for _, a := range x.archetypes {
		if !a.Closed {
			continue
		}
		for m := range x.CandidateMatchings(a) {
			if !m.loses && m.Wants(a) {
				m.loses = true
				losing = append(losing, m)
			}
		}
		for _, serial := range a.Values {
			if s := x.byValue[serial]; !s.loses {
				s.loses = true
				values = append(values, serial)
			}
		}
	}
	hasLeft := func(a *Entry) bool { return a.Closed }
	for _, serial := range values { // once each, since a value may lose very many
		s := x.byValue[serial]
		s.archetypes, s.loses = slices.DeleteFunc(s.archetypes, hasLeft), false
		x.release(serial)
	}
	for _, m := range losing { // once each, likewise
		m.lose()
	}
	x.archetypes = slices.DeleteFunc(x.archetypes, hasLeft)
	for i, a := range x.archetypes {
		if int(a.Index) != i {
			a.Renumber(uint32(i))
		}
	}
}

// Arrange gives the archetypes of the index another order. Cost: each chunk of archetypes that get
// another number, and a sort of all lists.
func (x *Index) Arrange(order []*Entry) {
	x.archetypes = append(x.archetypes[:0], order...)
	for i, a := range x.archetypes {
		if int(a.Index) != i {
			a.Renumber(uint32(i))
		}
	}
	for m := range x.Matchings() {
		slices.SortFunc(m.Matches, func(a, b Match) int { return byIndex(a.Entry, b.Entry) })
		m.Lost++
	}
	for _, s := range x.byValue {
		slices.SortFunc(s.archetypes, byIndex)
	}
}

// Matching returns the matching of a filter, made if there is none, and counts one more query.
func (x *Index) Matching(f Filter) *Matching {
	f.sort()
	key := x.keyOf(&f)
	for m := x.byFilter[key]; m != nil; m = m.alike {
		if m.isLike(&f) {
			m.queries++
			return m
		}
	}
	m := &Matching{Filter: f, key: key, alike: x.byFilter[key], queries: 1}
	if x.byFilter == nil {
		x.byFilter = map[uint64]*Matching{}
	}
	x.byFilter[key] = m
	x.post(m)
	for _, a := range x.candidateArchetypes(m) {
		m.consider(a)
	}
	return m
}

// keyOf returns the key of a sorted filter in byFilter.
func (x *Index) keyOf(f *Filter) uint64 { return f.hash(x.seed) & x.keys }

// candidateArchetypes returns, in order, the archetypes that may match: all or, if the filter names
// values, those with a value of the first list of Where.
func (x *Index) candidateArchetypes(m *Matching) []*Entry {
	if len(m.Where) == 0 {
		return x.archetypes
	}
	var all []*Entry
	for _, serial := range m.Where[0] {
		all = append(all, x.ArchetypesOfValue(serial)...)
	}
	slices.SortFunc(all, byIndex)
	return slices.Compact(all)
}

// Drop ends one query's use of a matching. The last Drop removes the matching.
func (x *Index) Drop(m *Matching) {
	if m.queries--; m.queries > 0 {
		return
	}
	m.leave()
	if len(m.Where) > 0 {
		for _, serial := range m.Where[0] {
			x.release(serial)
		}
	}
	x.forget(m)
}

// forget removes a matching from byFilter.
func (x *Index) forget(m *Matching) {
	if x.byFilter[m.key] != m {
		before := x.byFilter[m.key]
		for before.alike != m {
			before = before.alike
		}
		before.alike = m.alike
	} else if m.alike != nil {
		x.byFilter[m.key] = m.alike
	} else {
		delete(x.byFilter, m.key)
	}
}

// Len returns the number of matchings.
func (x *Index) Len() int { return len(x.matchings) }

// Matchings yields the matchings, in no order.
func (x *Index) Matchings() iter.Seq[*Matching] {
	return func(yield func(*Matching) bool) {
		for _, e := range x.matchings {
			if !yield(e.m) {
				return
			}
		}
	}
}

// Verify checks the invariants M1 to M5, and that archetypes is the number of archetypes in the
// index. Cost: it compares each archetype with each matching.
func (x *Index) Verify(archetypes int) error {
	if len(x.archetypes) != archetypes {
		return fmt.Errorf("match: M1: the index has %d archetypes of %d", len(x.archetypes), archetypes)
	}
	for at, a := range x.archetypes {
		if !a.verify(at) {
			return fmt.Errorf("match: M1: archetype %d has index %d, left: %v, types %v and the signature %x",
				at, a.Index, a.Closed, a.Types, a.Sig)
		}
	}
	if err := x.verifyValues(); err != nil {
		return err
	}
	for _, e := range x.matchings {
		if err := x.verifyPositions(e.m); err != nil {
			return err
		}
		if err := e.m.verify(x.archetypes); err != nil {
			return err
		}
	}
	for _, r := range slices.Concat(x.byType, []*postings{&x.matchings, &x.undemanding}) {
		if r == nil {
			continue
		}
		if err := r.verify(); err != nil {
			return err
		}
	}
	return x.verifyFilters()
}

// verifyFilters checks M5.
func (x *Index) verifyFilters() error {
	found := 0
	for key, m := range x.byFilter {
		for ; m != nil; m = m.alike {
			found++
			if m.key != key || x.keyOf(&m.Filter) != key || m.queries < 1 || m.loses {
				return fmt.Errorf("match: M5: a matching of %d queries is listed by %#x, that of its filter is %#x",
					m.queries, key, x.keyOf(&m.Filter))
			}
			for other := m.alike; other != nil; other = other.alike {
				if m.isLike(&other.Filter) {
					return fmt.Errorf("match: M5: two matchings, of %d and %d queries, have the same filter",
						m.queries, other.queries)
				}
			}
		}
	}
	if found != len(x.matchings) {
		return fmt.Errorf("match: M5: %d matchings are found by their filters, there are %d", found, len(x.matchings))
	}
	return nil
}
