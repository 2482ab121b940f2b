package match

import (
	"fmt"
	"iter"

	"quarry/ecs/internal/table"
)

// Rolls. A roll lists the matchings that ask for a type or a value. An archetype that comes or goes
// looks only at the rolls of its types and values, and at the roll of matchings that ask for
// neither:
//
//	With(a, b)      is in a's or b's roll, the shorter
//	Where(x, y)     is in x's and y's rolls
//	Any(a, b)       is in a's and b's rolls
//	Without(a)      is in Index.undemanding
//
// Every matching is also in Index.matchings. A matching knows its seats, its positions in the
// rolls, so it leaves without a search, however many matchings there are.

// roll is a list of matchings, in no order.
type roll []entry

// entry is a matching in a roll.
type entry struct {
	m    *Matching
	seat int // index in m.seats of the seat for this entry
}

// seat is a position in a roll.
type seat struct {
	in *roll
	at int
}

// enter adds a matching to a roll.
func (r *roll) enter(m *Matching) {
	m.seats = append(m.seats, seat{r, len(*r)})
	*r = append(*r, entry{m, len(m.seats) - 1})
}

// leave removes a matching from its rolls. The last entry of each roll moves to the free position.
func (m *Matching) leave() {
	for _, s := range m.seats {
		r := *s.in
		last := r[len(r)-1]
		r[s.at] = last
		last.m.seats[last.seat].at = s.at
		r[len(r)-1] = entry{}
		*s.in = r[:len(r)-1]
	}
	m.seats = nil
}

// enroll enters a matching in rolls, so that each archetype that it may want looks at one of them.
func (x *Index) enroll(m *Matching) {
	x.matchings.enter(m)
	switch {
	case len(m.Where) > 0:
		for _, serial := range m.Where[0] {
			x.sharersOf(serial).roll.enter(m)
		}
	case m.Has != table.Signature{}:
		x.shortest(&m.Has).enter(m)
	case len(m.Any) > 0:
		for id := range m.Any[0].Each() {
			x.rollOf(id).enter(m)
		}
	default:
		x.undemanding.enter(m)
	}
}

// shortest returns the shortest roll of the types in a set.
func (x *Index) shortest(types *table.Signature) (r *roll) {
	for id := range types.Each() {
		if of := x.rollOf(id); r == nil || len(*of) < len(*r) {
			r = of
		}
	}
	return r
}

// rollOf returns the roll of a type, made if there is none.
func (x *Index) rollOf(id table.TypeID) *roll {
	for int(id) >= len(x.byType) {
		x.byType = append(x.byType, nil)
	}
	if x.byType[id] == nil {
		x.byType[id] = new(roll)
	}
	return x.byType[id]
}

// seen returns the roll of a type, or nil if there is none.
func (x *Index) seen(id table.TypeID) *roll {
	if int(id) < len(x.byType) {
		return x.byType[id]
	}
	return nil
}

// CandidateMatchings yields the matchings that may want an archetype, each once. All matchings that
// want it are among them.
func (x *Index) CandidateMatchings(a *Archetype) iter.Seq[*Matching] {
	return func(yield func(*Matching) bool) {
		x.asked++
		in := func(r roll) bool {
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
			if r := x.seen(id); r != nil && !in(*r) {
				return
			}
		}
		for _, serial := range a.Values {
			if s := x.byValue[serial]; s != nil && !in(s.roll) {
				return
			}
		}
		in(x.undemanding)
	}
}

// verify checks that each entry of a roll has a seat that leads back to it.
func (r *roll) verify() error {
	for at, e := range *r {
		if e.seat >= len(e.m.seats) || e.m.seats[e.seat] != (seat{r, at}) {
			return fmt.Errorf("match: M3: a roll of %d has a matching of %d queries at %d, whose seat %d is elsewhere",
				len(*r), e.m.queries, at, e.seat)
		}
	}
	return nil
}

// verifySeats checks M3 for a matching: it is where its seats say, and each archetype that it may
// want looks at one of those rolls.
func (x *Index) verifySeats(m *Matching) error {
	for i, s := range m.seats {
		if s.at >= len(*s.in) || (*s.in)[s.at] != (entry{m, i}) {
			return fmt.Errorf("match: M3: seat %d of a matching of %d queries is another's", i, m.queries)
		}
	}
	var want []*roll
	switch {
	case len(m.Where) > 0:
		for _, serial := range m.Where[0] {
			if s := x.byValue[serial]; s != nil {
				want = append(want, &s.roll)
			}
		}
	case m.Has != table.Signature{}: // the roll of any type serves
		for id := range m.Has.Each() {
			if len(m.seats) == 2 && m.seats[1].in == x.seen(id) {
				return nil
			}
		}
	case len(m.Any) > 0:
		for id := range m.Any[0].Each() {
			want = append(want, x.seen(id))
		}
	default:
		want = append(want, &x.undemanding)
	}
	ok := len(m.seats) == 1+len(want) && m.seats[0].in == &x.matchings && len(want) > 0
	for i := range want {
		ok = ok && m.seats[1+i].in == want[i]
	}
	if !ok {
		return fmt.Errorf(
			"match: M3: a matching of %d queries has %d seats, not those where the archetypes look that it wants",
			m.queries, len(m.seats))
	}
	return nil
}
