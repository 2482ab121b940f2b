package ecs

import (
	"fmt"
	"iter"
)

// Rolls: where an archetype that comes or goes finds the matchings that may want it. A matching that
// asks for a type stands in the roll of that type, and archetypes without the type pass it by:
//
//	With(a, b)      a's or b's roll, the shorter
//	Where(x, y)     those of both values
//	Any(a, b)       those of both types
//	Without(a)      the roll of those that ask for no type
//
// All of a world stand in World.matchings as well. A matching knows its seats, so it leaves
// without a search, however many there are.

// roll is a list of matchings, in no order.
type roll []entry

// entry is a matching in a roll.
type entry struct {
	m    *matching
	seat int // which of its seats this is
}

// seat is where a matching stands.
type seat struct {
	in *roll
	at int
}

// enter adds a matching to a roll.
func (r *roll) enter(m *matching) {
	m.seats = append(m.seats, seat{r, len(*r)})
	*r = append(*r, entry{m, len(m.seats) - 1})
}

// leave takes a matching out of its rolls; the last of each takes its place there.
func (m *matching) leave() {
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

// enroll enters a matching where the archetypes that it may want look.
func (m *matching) enroll() {
	w := m.w
	w.matchings.enter(m)
	switch shortest := m.shortest(); {
	case len(m.where) > 0:
		for _, v := range m.where[0] {
			v.roll.enter(m)
		}
	case shortest != nil:
		shortest.enter(m)
	case len(m.any) > 0:
		for id := range m.any[0].Each() {
			w.types[id].roll.enter(m)
		}
	default:
		w.undemanding.enter(m)
	}
}

// shortest returns the shortest roll of the types that archetypes must have, nil without any.
func (m *matching) shortest() (r *roll) {
	for id := range m.has.Each() {
		if of := &m.w.types[id].roll; r == nil || len(*of) < len(*r) {
			r = of
		}
	}
	return r
}

// suitors yields the matchings among which are all that want the archetype, each once.
func (a *Archetype) suitors() iter.Seq[*matching] {
	return func(yield func(*matching) bool) {
		w := a.w
		w.asked++
		in := func(r roll) bool {
			for _, e := range r {
				if e.m.asked == w.asked {
					continue
				}
				if e.m.asked = w.asked; !yield(e.m) {
					return false
				}
			}
			return true
		}
		for _, id := range a.table.Types {
			if !in(w.types[id].roll) {
				return
			}
		}
		for _, v := range a.values {
			if !in(v.roll) {
				return
			}
		}
		in(w.undemanding)
	}
}

// verifySeats checks that a matching is where its seats say.
func (m *matching) verifySeats() error {
	for i, s := range m.seats {
		if s.at >= len(*s.in) || (*s.in)[s.at] != (entry{m, i}) {
			return fmt.Errorf("ecs: W5: seat %d of a matching of %d queries is another's", i, m.queries)
		}
	}
	return nil
}
