package ecs

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
)

// Matching. Queries that ask the same of archetypes share one matching: its list
// grows when an archetype is made, never while iterating. An archetype is tested by
// its signature, 16 words that are compared with those that must be there and
// those that must not (docs/decisions/0012 compares that with hashing); rolls say
// which matchings to test (roll.go).

// matching is which archetypes the terms of some queries match.
type matching struct {
	w       *World
	alike   *matching // the next with the same key in World.byFilter
	seats   []seat    // in rolls, that of World.matchings first
	matches []match   // in order of the archetypes' creation (W5)
	key     uint64    // of World.byFilter
	asked   uint64    // World.asked when it was yielded last, see suitors
	queries int       // that use it; it goes with the last
	loses   bool      // a match, in the call under way
	filter
}

// filter is what the terms of a query ask of archetypes and rows.
type filter struct {
	any   []signature // of each an archetype must have one
	where [][]*value  // of each it must have one; sorted, as the values are, by number
	signatures
}

// signatures are the parts of a filter that terms in any order give alike.
type signatures struct {
	has      signature // types that an archetype must have
	lacks    signature // types that it must not have
	enabled  signature // types of which rows must be enabled
	disabled signature // Enableable types of which rows must be disabled, or lack the type
}

// match is an archetype that a matching lists.
type match struct {
	a     *Archetype
	tests []bitTest // enable bits that decide per row; none: every row matches
}

// bitTest is a part of a mask: rows of which one of the slots' bits is set, or none.
type bitTest struct {
	slots  []uint16 // in the archetype
	invert uint64   // all ones where the bits must be clear, else 0
}

// read turns terms into what is asked of archetypes and rows.
func (m *matching) read(terms []Term) {
	var named signature
	hide := [2]bool{true, true}
	for _, t := range terms {
		switch t.kind {
		case termIncludeDisabled:
			hide[disabledID] = false
		case termIncludePrefabs:
			hide[prefabID] = false
		case termAny:
			m.any = append(m.any, signature{})
		case termWhere:
			m.where = append(m.where, holdAll(t.values))
		}
		for _, o := range t.of {
			id := o.t.id
			if t.kind != termChanged {
				named.Add(id)
			}
			m.ask(t.kind, id)
		}
	}
	for id, hidden := range hide {
		if hidden && !named.Has(typeID(id)) {
			m.lacks.Add(typeID(id))
		}
	}
	slices.SortFunc(m.any, func(a, b signature) int { return slices.Compare(a[:], b[:]) })
	slices.SortFunc(m.where, func(a, b []*value) int { return slices.CompareFunc(a, b, compareSerials) })
}

func (m *matching) ask(kind termKind, id typeID) {
	toggles := m.w.types[id].enableable
	switch kind {
	case termRead, termWrite, termWith, termWhere:
		m.has.Add(id)
		if toggles {
			m.enabled.Add(id)
		}
	case termDisabled:
		m.has.Add(id)
		m.disabled.Add(id)
	case termPresent:
		m.has.Add(id)
	case termAbsent:
		m.lacks.Add(id)
	case termWithout:
		if toggles {
			m.disabled.Add(id)
		} else {
			m.lacks.Add(id)
		}
	case termAny:
		m.any[len(m.any)-1].Add(id)
	}
}

// hash is the same for filters that match alike, whatever the order of terms.
func (f *filter) hash(seed maphash.Seed) uint64 {
	key := maphash.Comparable(seed, f.signatures)
	for i := range f.any {
		key = maphash.Comparable(seed, struct {
			key uint64
			sig signature
		}{key, f.any[i]})
	}
	for _, one := range f.where {
		for _, v := range one {
			key = maphash.Comparable(seed, [2]uint64{key, v.serial})
		}
	}
	return key
}

// matchesLike reports whether two filters match alike.
func (f *filter) matchesLike(g *filter) bool {
	return f.signatures == g.signatures && slices.Equal(f.any, g.any) && slices.EqualFunc(f.where, g.where, slices.Equal[[]*value])
}

// matchingOf finds the matching of some terms, or makes it.
func (w *World) matchingOf(terms []Term) *matching {
	m := &matching{w: w, queries: 1}
	m.read(terms)
	m.key = m.hash(w.seed)
	for old := w.byFilter[m.key]; old != nil; old = old.alike {
		if old.matchesLike(&m.filter) {
			old.queries++
			m.letGo()
			return old
		}
	}
	m.alike = w.byFilter[m.key]
	w.byFilter[m.key] = m
	m.enroll()
	for _, a := range m.candidates() {
		m.consider(a)
	}
	return m
}

// candidates returns archetypes, in order, among which are all that match: those of the
// values of a Where term, if there is one.
func (m *matching) candidates() []*Archetype {
	if len(m.where) == 0 {
		return m.w.archetypes
	}
	var all []*Archetype
	for _, v := range m.where[0] {
		all = append(all, v.archetypes...)
	}
	slices.SortFunc(all, func(a, b *Archetype) int { return cmp.Compare(a.table.Index, b.table.Index) })
	return all
}

// drop ends one query's use.
func (m *matching) drop() {
	if m.queries--; m.queries > 0 {
		return
	}
	m.leave()
	m.forget()
	m.letGo()
}

// forget takes the matching out of World.byFilter.
func (m *matching) forget() {
	byFilter := m.w.byFilter
	if byFilter[m.key] != m {
		before := byFilter[m.key]
		for before.alike != m {
			before = before.alike
		}
		before.alike = m.alike
	} else if m.alike != nil {
		byFilter[m.key] = m.alike
	} else {
		delete(byFilter, m.key)
	}
}

// letGo lets the values of the Where terms go.
func (m *matching) letGo() {
	for _, one := range m.where {
		for _, v := range one {
			v.letGo()
		}
	}
}

// consider adds a to the matches when it matches. Each archetype is considered
// once.
func (m *matching) consider(a *Archetype) {
	if m.wants(a) {
		m.matches = append(m.matches, match{a: a, tests: m.testsOf(a)})
	}
}

func (m *matching) wants(a *Archetype) bool {
	for i := range a.table.Sig {
		if a.table.Sig[i]&m.has[i] != m.has[i] || a.table.Sig[i]&m.lacks[i] != 0 {
			return false
		}
	}
	for i := range m.any {
		if !a.table.Sig.Meets(&m.any[i]) {
			return false
		}
	}
	for _, one := range m.where {
		v := a.valueOf(one[0].t.id)
		if _, found := slices.BinarySearchFunc(one, v, compareSerials); !found {
			return false
		}
	}
	return true
}

// testsOf says which bits decide whether a row of a matches.
func (m *matching) testsOf(a *Archetype) (tests []bitTest) {
	for _, slot := range a.table.Books.Toggling() {
		id := a.table.Types[slot]
		switch {
		case m.enabled.Has(id):
			tests = append(tests, bitTest{slots: []uint16{slot}})
		case m.disabled.Has(id):
			tests = append(tests, bitTest{slots: []uint16{slot}, invert: ^uint64(0)})
		}
	}
	for i := range m.any {
		test, always := bitTest{}, false
		for slot, id := range a.table.Types {
			if !m.any[i].Has(id) {
				continue
			}
			always = always || !m.w.types[id].enableable
			test.slots = append(test.slots, uint16(slot))
		}
		if !always {
			tests = append(tests, test)
		}
	}
	return tests
}

// verify checks W5.
func (m *matching) verify() error {
	if err := m.verifySeats(); err != nil {
		return err
	}
	at := 0
	for _, a := range m.w.archetypes {
		listed := at < len(m.matches) && m.matches[at].a == a
		if listed != m.wants(a) {
			return fmt.Errorf("ecs: W5: a matching of %d queries lists %v: %v, but its terms say %v", m.queries, a, listed, m.wants(a))
		}
		if listed {
			at++
		}
	}
	if at != len(m.matches) {
		return fmt.Errorf("ecs: W5: a matching of %d queries lists %d archetypes, %d match", m.queries, len(m.matches), at)
	}
	return nil
}
