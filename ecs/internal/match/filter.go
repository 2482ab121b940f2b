package match

import (
	"hash/maphash"
	"slices"

	"quarry/ecs/internal/table"
)

// Filter is what is asked of archetypes and rows. The order of Any and Where does not matter.
type Filter struct {
	Any   []table.Signature // of each an archetype must have one; none is empty
	Where [][]uint64        // of each it must have one; serials, in rising order; none is empty
	Sets
}

// Sets are the parts of a filter that are one set of types each.
type Sets struct {
	Has      table.Signature // types that an archetype must have
	Lacks    table.Signature // types that it must not have
	Enabled  table.Signature // types of which rows must be enabled
	Disabled table.Signature // types of which rows must be disabled, or lack the type
}

// BitTest is a part of a mask: rows of which one of the slots' bits is set, or none.
type BitTest struct {
	Slots  []uint16 // in the archetype
	Invert uint64   // all ones where the bits must be clear, else 0
}

// sort brings the parts that may stand in any order into the one order that hash and isLike
// want.
func (f *Filter) sort() {
	slices.SortFunc(f.Any, func(a, b table.Signature) int { return slices.Compare(a[:], b[:]) })
	slices.SortFunc(f.Where, slices.Compare[[]uint64])
}

// hash is the same for filters that are alike. Both are sorted.
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

// isLike reports whether two filters ask the same. Both are sorted.
func (f *Filter) isLike(g *Filter) bool {
	return f.Sets == g.Sets && slices.Equal(f.Any, g.Any) && slices.EqualFunc(f.Where, g.Where, slices.Equal[[]uint64])
}

// Wants reports whether rows of an archetype can match.
func (f *Filter) Wants(a *Archetype) bool {
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

// hasOneOf reports whether the archetype has one of some values.
func (a *Archetype) hasOneOf(serials []uint64) bool {
	for _, v := range a.Values {
		if _, found := slices.BinarySearch(serials, v); found {
			return true
		}
	}
	return false
}

// TestsOf says which bits decide whether a row of an archetype that the filter wants matches;
// without any, every row does.
func (f *Filter) TestsOf(a *Archetype) (tests []BitTest) {
	for _, slot := range a.Books.Toggling() {
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
			_, toggles := slices.BinarySearch(a.Books.Toggling(), uint16(slot))
			always = always || !toggles
			test.Slots = append(test.Slots, uint16(slot))
		}
		if !always {
			tests = append(tests, test)
		}
	}
	return tests
}
