package main

import "github.com/unitoftime/ecs"

// Entrants of unitoftime/ecs. It has no calls for many entities. A look-up is by a view, which
// takes no lock; ReadPtr takes one.
const (
	uot       = "uot"
	uotSlices = "uot slices"
)

var uotWays = []way{
	{"query2comp", uot, buildUotQuery(uotPlain)},
	{"query2comp", uotSlices, buildUotSlices(uotPlain)},
	{"query32arch", uot, buildUotQuery(uotSpread(5, 0))},
	{"query32arch", uotSlices, buildUotSlices(uotSpread(5, 0))},
	{"query256arch", uot, buildUotQuery(uotSpread(0, 8))},
	{"query256arch", uotSlices, buildUotSlices(uotSpread(0, 8))},
	{"random", uot, buildUotRandom},
	{"create2comp", uot, buildUotCreate(2)},
	{"create2comp_alloc", uot, buildUotAlloc},
	{"create10comp", uot, buildUotCreate(10)},
	{"delete2comp", uot, buildUotDelete(2)},
	{"delete10comp", uot, buildUotDelete(10)},
	{"add_remove", uot, buildUotAddRemove(0, inOrder)},
	{"add_remove-shuffled", uot, buildUotAddRemove(0, shuffled)},
	{"add_remove_large", uot, buildUotAddRemove(10, inOrder)},
	{"create-worst", uot, buildUotWorst},
	{"new_world", uot, buildUotNewWorld},
	{"memory", uot, buildUotMemory},
	{"archetypes", uot, buildUotArchetypes},
}

// uotBoth are a Position and a Velocity at zero, boxed once: a box costs a lock
// and two look-ups.
var uotBoth = []ecs.Component{ecs.C(Position{}), ecs.C(Velocity{})}

// uotExtra are C1 to C12 at zero.
var uotExtra = []ecs.Component{
	ecs.C(C1{}), ecs.C(C2{}), ecs.C(C3{}), ecs.C(C4{}), ecs.C(C5{}), ecs.C(C6{}),
	ecs.C(C7{}), ecs.C(C8{}), ecs.C(C9{}), ecs.C(C10{}), ecs.C(C11{}), ecs.C(C12{}),
}

// uotWith returns the given components and the extras whose bits are set in mask.
func uotWith(mask int, list ...ecs.Component) []ecs.Component {
	for i, c := range uotExtra {
		if mask>>i&1 != 0 {
			list = append(list, c)
		}
	}
	return list
}

// uotWorld is a world of unitoftime/ecs with the fields that all workloads need.
type uotWorld struct {
	endless
	w      *ecs.World
	moving *ecs.View2[Position, Velocity]
}

func openUot() uotWorld {
	w := ecs.NewWorld()
	return uotWorld{w: w, moving: ecs.Query2[Position, Velocity](w)}
}

// create makes one entity.
func (s *uotWorld) create(list ...ecs.Component) ecs.Id {
	id := s.w.NewId()
	s.w.Write(id, list...)
	return id
}

// tally sums up the entities with a Position that have a Velocity, or do not.
func (s *uotWorld) tally(velocity bool) tally {
	var f ecs.Filter = ecs.Without(Velocity{})
	if velocity {
		f = ecs.With(Velocity{})
	}
	var t tally
	ecs.Query1[Position](s.w, f).MapId(func(_ ecs.Id, p *Position) { t.add(p) })
	return t
}

// uotQuery moves everything that has Position and Velocity, entity by entity.
type uotQuery struct {
	uotWorld
	n int
}

func newUotQuery(n int, fill func(*uotWorld, int)) *uotQuery {
	s := &uotQuery{openUot(), n}
	fill(&s.uotWorld, n)
	return s
}

func buildUotQuery(fill func(*uotWorld, int)) func(int) (trial, error) {
	return func(n int) (trial, error) { return newUotQuery(n, fill), nil }
}

// uotPlain makes 10n entities that do not match, and n that do.
func uotPlain(s *uotWorld, n int) {
	for range 10 * n {
		s.create(uotBoth[:1]...)
	}
	for i := range n {
		s.create(uotBoth[0], ecs.C(velocityOf(i)))
	}
}

// uotSpread is quarrySpread for unitoftime/ecs.
func uotSpread(bits, noise int) func(*uotWorld, int) {
	return func(s *uotWorld, n int) {
		if noise > 0 {
			for i := range 4 * n {
				s.create(uotWith(i&(1<<noise-1), uotBoth[0])...)
			}
		}
		for i := range n {
			s.create(uotWith(i&(1<<bits-1), uotBoth[0], ecs.C(velocityOf(i)))...)
		}
	}
}

func (s *uotQuery) pass(times int) {
	q := s.moving
	for range times {
		q.MapId(func(_ ecs.Id, p *Position, v *Velocity) {
			p.X += v.X
			p.Y += v.Y
		})
	}
}

func (s *uotQuery) check(passes int) error { return s.tally(true).want(moved(s.n, passes)) }

// uotSlice is uotQuery by the columns of each archetype, in which deleted entities leave holes.
type uotSlice struct{ *uotQuery }

func buildUotSlices(fill func(*uotWorld, int)) func(int) (trial, error) {
	return func(n int) (trial, error) { return uotSlice{newUotQuery(n, fill)}, nil }
}

func (s uotSlice) pass(times int) {
	q := s.moving
	for range times {
		//lint:ignore SA1019 the only way to whole columns, and the fastest loop
		q.MapSlices(func(ids []ecs.Id, p []Position, v []Velocity) {
			ids, v = ids[:len(p)], v[:len(p)]
			for i := range p {
				if ids[i] != ecs.InvalidEntity {
					p[i].X += v[i].X
					p[i].Y += v[i].Y
				}
			}
		})
	}
}

// uotRandom looks entities up in shuffled order.
type uotRandom struct {
	uotWorld
	places *ecs.View1[Position]
	list   []ecs.Id
	sum    float64
}

func buildUotRandom(n int) (trial, error) {
	s := &uotRandom{uotWorld: openUot(), list: make([]ecs.Id, n)}
	s.places = ecs.Query1[Position](s.w)
	for i := range s.list {
		s.list[i] = s.create(ecs.C(placeOf(i)))
	}
	shuffle(s.list)
	return s, nil
}

func (s *uotRandom) pass(times int) {
	sum, places := 0.0, s.places
	for range times {
		for _, e := range s.list {
			sum += places.Read(e).X
		}
	}
	s.sum += sum
}

func (s *uotRandom) check(passes int) error { return wantSum(s.sum, len(s.list), passes) }
