package match

import (
	"cmp"
	"fmt"
	"slices"
)

// valueIndex has the archetypes of a shared value and the matchings that name it. One
// without either is removed.
type valueIndex struct {
	archetypes []*Entry // in order of creation (M4)
	matchings  postings // of those that name the value
	loses      bool     // the Leave under way removes an archetype
}

// valueIndexOf returns the valueIndex of a value, made if there is none.
func (x *Index) valueIndexOf(serial uint64) *valueIndex {
	s := x.byValue[serial]
	if s == nil {
		s = new(valueIndex)
		if x.byValue == nil {
			x.byValue = map[uint64]*valueIndex{}
		}
		x.byValue[serial] = s
	}
	return s
}

// ArchetypesOfValue returns the archetypes that have a value, in order of creation. The list is
// read-only and valid until an archetype comes or leaves.
func (x *Index) ArchetypesOfValue(serial uint64) []*Entry {
	if s := x.byValue[serial]; s != nil {
		return s.archetypes
	}
	return nil
}

// release removes the valueIndex of a value if no archetype has it and no matching names it.
func (x *Index) release(serial uint64) {
	if s := x.byValue[serial]; s != nil && len(s.archetypes) == 0 && len(s.matchings) == 0 {
		delete(x.byValue, serial)
	}
}

// verifyValues checks M4.
func (x *Index) verifyValues() error {
	lists := map[uint64][]*Entry{}
	for _, a := range x.archetypes {
		for _, serial := range a.Values {
			lists[serial] = append(lists[serial], a)
		}
	}
	for serial, s := range x.byValue {
		if !slices.Equal(s.archetypes, lists[serial]) || s.loses {
			return fmt.Errorf(
				"match: M4: the list of value %d has %d archetypes, %d have it, or not these in this order",
				serial, len(s.archetypes), len(lists[serial]))
		}
		if len(s.archetypes) == 0 && len(s.matchings) == 0 {
			return fmt.Errorf("match: M4: value %d is of no archetype and named by no matching, but has a list", serial)
		}
		if err := s.matchings.verify(); err != nil {
			return err
		}
		delete(lists, serial)
	}
	for serial, list := range lists {
		return fmt.Errorf("match: M4: value %d has no list, %d archetypes have it", serial, len(list))
	}
	return nil
}

// byIndex orders archetypes by Index, the order in which they were made.
func byIndex(a, b *Entry) int { return cmp.Compare(a.Index, b.Index) }
