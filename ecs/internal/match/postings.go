package match

import (
	"fmt"
	"iter"

	"quarry/ecs/internal/table"
)

// Posting lists. The matchings that ask for a type or a value are its postings, as in an inverted
// index of words. An archetype that comes or goes looks only at the lists of its types and values,
// and at that of matchings that ask for neither. A matching goes by the first line that applies to
// it, and only once (Index.post):
//
//	Where(x, y)     is in x's and y's lists; of several Where terms the first
//	With(a, b)      is in a's or b's list, the shorter
//	Any(a, b)       is in a's and b's lists; of several Any terms the first
//	Without(a)      is in Index.undemanding
//
// Every matching is also in Index.matchings. A matching knows its positions in the lists, so it
// leaves without a search, however many matchings there are.

// postings is a posting list: matchings, in no order.
type postings []posting

// posting is a matching in a posting list.
type posting struct {
	m        *Matching
	position int // index in m.positions of the position of this posting
}

// position is a place in a posting list.
type position struct {
	in *postings
	at int
}

// enter adds a matching to a posting list.
func (r *postings) enter(m *Matching) {
	m.positions = append(m.positions, position{r, len(*r)})
	*r = append(*r, posting{m, len(m.positions) - 1})
}

// leave removes a matching from its lists. The last posting of each list moves to the free
// position.
func (m *Matching) leave() {
	for _, s := range m.positions {
		r := *s.in
		last := r[len(r)-1]
		r[s.at] = last
		last.m.positions[last.position].at = s.at
		r[len(r)-1] = posting{}
		*s.in = r[:len(r)-1]
	}
	m.positions = nil
}

// post enters a matching in posting lists, so that each archetype that it may want looks at one of
// them.
func (x *Index) post(m *Matching) {
	x.matchings.enter(m)
	switch {
	case len(m.Where) > 0:
		for _, serial := range m.Where[0] {
			x.valueIndexOf(serial).matchings.enter(m)
		}
	case m.Has != table.Signature{}:
		x.shortest(&m.Has).enter(m)
	case len(m.Any) > 0:
		for id := range m.Any[0].Each() {
			x.postingsOf(id).enter(m)
		}
	default:
		x.undemanding.enter(m)
	}
}

// shortest returns the shortest list of the types in a set.
func (x *Index) shortest(types *table.Signature) (r *postings) {
	for id := range types.Each() {
		if of := x.postingsOf(id); r == nil || len(*of) < len(*r) {
			r = of
		}
	}
	return r
}

// postingsOf returns the posting list of a type, made if there is none.
func (x *Index) postingsOf(id table.TypeID) *postings {
	for int(id) >= len(x.byType) {
		x.byType = append(x.byType, nil)
	}
	if x.byType[id] == nil {
		x.byType[id] = new(postings)
	}
	return x.byType[id]
}

// postingsOrNil returns the posting list of a type, or nil if there is none.
func (x *Index) postingsOrNil(id table.TypeID) *postings {
	if int(id) < len(x.byType) {
		return x.byType[id]
	}
	return nil
}

// CandidateMatchings yields the matchings that may want an archetype, each once. All matchings that
// want it are among them.
func (x *Index) CandidateMatchings(a *Entry) iter.Seq[*Matching] {
	return func(yield func(*Matching) bool) {
		x.asked++
		in := func(r postings) bool {
			for _, e := range r {
				if e.m.asked == x.asked {
					continue
				}
				if e.m.asked = x.asked; !yield(e.m) {
					return false
				}
			}
			return true
		}
		for _, id := range a.Types {
			if r := x.postingsOrNil(id); r != nil && !in(*r) {
				return
			}
		}
		for _, serial := range a.Values {
			if s := x.byValue[serial]; s != nil && !in(s.matchings) {
				return
			}
		}
		in(x.undemanding)
	}
}

// verify checks that each posting of a list has a position that leads back to it.
func (r *postings) verify() error {
	for at, e := range *r {
		if e.position >= len(e.m.positions) || e.m.positions[e.position] != (position{r, at}) {
			return fmt.Errorf("match: M3: a list of %d has a matching of %d queries at %d, whose place %d is elsewhere",
				len(*r), e.m.queries, at, e.position)
		}
	}
	return nil
}

// verifyPositions checks M3 for a matching: it is at its positions, and each archetype that it may
// want looks at one of those lists.
func (x *Index) verifyPositions(m *Matching) error {
	for i, s := range m.positions {
		if s.at >= len(*s.in) || (*s.in)[s.at] != (posting{m, i}) {
			return fmt.Errorf("match: M3: position %d of a matching of %d queries is another's", i, m.queries)
		}
	}
	var want []*postings
	switch {
	case len(m.Where) > 0:
		for _, serial := range m.Where[0] {
			if s := x.byValue[serial]; s != nil {
				want = append(want, &s.matchings)
			}
		}
	case m.Has != table.Signature{}: // the list of any type serves
		for id := range m.Has.Each() {
			if len(m.positions) == 2 && m.positions[1].in == x.postingsOrNil(id) {
				return nil
			}
		}
	case len(m.Any) > 0:
		for id := range m.Any[0].Each() {
			want = append(want, x.postingsOrNil(id))
		}
	default:
		want = append(want, &x.undemanding)
	}
	ok := len(m.positions) == 1+len(want) && m.positions[0].in == &x.matchings && len(want) > 0
	for i := range want {
		ok = ok && m.positions[1+i].in == want[i]
	}
	if !ok {
		return fmt.Errorf(
			"match: M3: a matching of %d queries has %d positions, not those where the archetypes look that it wants",
			m.queries, len(m.positions))
	}
	return nil
}
