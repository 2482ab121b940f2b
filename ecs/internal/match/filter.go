package match

import (
	"hash/maphash"
	"slices"

	"quarry/ecs/internal/table"
)

// Filter is the conditions of a query on archetypes and rows. The order of Any and Where does not
// matter.
type Filter struct {
	Any   []table.Signature // an archetype must have a type of each; no signature is empty
	Where [][]uint64        // an archetype must have a value of each; serials in rising order; no list is empty
	Sets
}

// Sets has the parts of a filter that are a single set of types.
type Sets struct {
	Has      table.Signature // types that an archetype must have
	Lacks    table.Signature // types that it must not have
	Enabled  table.Signature // types that must be enabled in a row
	Disabled table.Signature // types that must be disabled in a row, or absent
}

// BitTest selects the rows in which the enable bit of at least one slot is set or, if inverted, in
// which none is.
type BitTest struct {
	Slots  []uint16 // among the archetype's types
	Invert uint64   // all ones if the bits must be clear, else 0
}

// sort sorts Any and Where for hash and isLike; their order has no meaning.
func (f *Filter) sort() {
	slices.SortFunc(f.Any, func(a, b table.Signature) int { return slices.Compare(a[:], b[:]) })
	slices.SortFunc(f.Where, slices.Compare[[]uint64])
}

// hash returns the same hash for equal filters. The filter must be sorted.
func (f *Filter) hash(seed maphash.Seed) uint64 {
	key := maphash.Comparable(seed, f.Sets)
	for i := range f.Any {
		key = maphash.Comparable(seed, struct {
			key uint64
			sig table.Signature
		}{key, f.Any[i]})
	}
	for _, one := range f.Where {
		for _, serial := range one {
			key = maphash.Comparable(seed, [2]uint64{key, serial})
		}
	}
	return key
}

// isLike reports whether two filters are equal. Both must be sorted.
func (f *Filter) isLike(g *Filter) bool {
	return f.Sets == g.Sets && slices.Equal(f.Any, g.Any) && slices.EqualFunc(f.Where, g.Where, slices.Equal[[]uint64])
}

// Wants reports whether rows of an archetype can match.
func (f *Filter) Wants(a *Entry) bool {
	for i := range a.Sig {
		if a.Sig[i]&f.Has[i] != f.Has[i] || a.Sig[i]&f.Lacks[i] != 0 {
			return false
		}
	}
	for i := range f.Any {
		if !a.Sig.Meets(&f.Any[i]) {
			return false
		}
	}
	for _, one := range f.Where {
		if !a.hasOneOf(one) {
			return false
		}
	}
	return true
}

// hasOneOf reports whether the archetype has a value with one of the serials, which are in rising
// order.
func (a *Entry) hasOneOf(serials []uint64) bool {
	for _, v := range a.Values {
		if _, found := slices.BinarySearch(serials, v); found {
			return true
		}
	}
	return false
}

// TestsOf returns the tests that a row must pass to match, for an archetype that the filter wants.
// There are none if every row matches.
func (f *Filter) TestsOf(a *Entry) (tests []BitTest) {
	for _, slot := range a.Metadata.Toggling() {
		id := a.Types[slot]
		switch {
		case f.Enabled.Has(id):
			tests = append(tests, BitTest{Slots: []uint16{slot}})
		case f.Disabled.Has(id):
			tests = append(tests, BitTest{Slots: []uint16{slot}, Invert: ^uint64(0)})
		}
	}
	for i := range f.Any {
		test, always := BitTest{}, false
		for slot, id := range a.Types {
			if !f.Any[i].Has(id) {
				continue
			}
			_, toggles := slices.BinarySearch(a.Metadata.Toggling(), uint16(slot))
			always = always || !toggles
			test.Slots = append(test.Slots, uint16(slot))
		}
		if !always {
			tests = append(tests, test)
		}
	}
	return tests
}
