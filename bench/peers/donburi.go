package main

import (
	ecs "github.com/yohamta/donburi"
	"github.com/yohamta/donburi/filter"
)

// Entrants of donburi. It hands out no columns: each component is an object of its own.
const (
	donburi      = "donburi"
	donburiBatch = "donburi batch"
)

var donburiWays = []way{
	{"query2comp", donburi, buildDonburiQuery(donburiPlain)},
	{"query32arch", donburi, buildDonburiQuery(donburiSpread(5, 0))},
	{"query256arch", donburi, buildDonburiQuery(donburiSpread(0, 8))},
	{"random", donburi, buildDonburiRandom},
	{"create2comp", donburi, buildDonburiCreate(2)},
	{"create2comp-batch", donburiBatch, buildDonburiCreateMany(2)},
	{"create2comp_alloc", donburi, buildDonburiAlloc(false)},
	{"create2comp_alloc", donburiBatch, buildDonburiAlloc(true)},
	{"create10comp", donburi, buildDonburiCreate(10)},
	{"create10comp-batch", donburiBatch, buildDonburiCreateMany(10)},
	{"delete2comp", donburi, buildDonburiDelete(2)},
	{"delete10comp", donburi, buildDonburiDelete(10)},
	{"add_remove", donburi, buildDonburiAddRemove(0, inOrder)},
	{"add_remove-shuffled", donburi, buildDonburiAddRemove(0, shuffled)},
	{"add_remove_large", donburi, buildDonburiAddRemove(10, inOrder)},
	{"create-worst", donburi, buildDonburiWorst},
	{"new_world", donburi, buildDonburiNewWorld},
	{"memory", donburi, buildDonburiMemory},
}

// Component types of donburi are global to all worlds.
var (
	donburiPosition = ecs.NewComponentType[Position]()
	donburiVelocity = ecs.NewComponentType[Velocity]()
	donburiBoth     = []ecs.IComponentType{donburiPosition, donburiVelocity}
	donburiExtra    = []ecs.IComponentType{
		ecs.NewComponentType[C1](), ecs.NewComponentType[C2](), ecs.NewComponentType[C3](), ecs.NewComponentType[C4](),
		ecs.NewComponentType[C5](), ecs.NewComponentType[C6](), ecs.NewComponentType[C7](), ecs.NewComponentType[C8](),
		ecs.NewComponentType[C9](), ecs.NewComponentType[C10](),
	}
)

// donburiWith returns the given types and the extras whose bits are set in mask.
func donburiWith(mask int, types ...ecs.IComponentType) []ecs.IComponentType {
	for i, t := range donburiExtra {
		if mask>>i&1 != 0 {
			types = append(types, t)
		}
	}
	return types
}

// donburiWorld is a world of donburi with the fields that all workloads need.
type donburiWorld struct {
	endless
	w      ecs.World
	moving *ecs.Query
}

func openDonburi() donburiWorld {
	return donburiWorld{w: ecs.NewWorld(), moving: ecs.NewQuery(filter.Contains(donburiBoth...))}
}

// tally sums up the entities with a Position that have a Velocity, or do not.
func (s *donburiWorld) tally(velocity bool) tally {
	q := s.moving
	if !velocity {
		q = ecs.NewQuery(filter.And(filter.Contains(donburiPosition), filter.Not(filter.Contains(donburiVelocity))))
	}
	var t tally
	for e := range q.Iter(s.w) {
		t.add(donburiPosition.Get(e))
	}
	return t
}

// donburiQuery moves everything that has Position and Velocity.
type donburiQuery struct {
	donburiWorld
	n int
}

func buildDonburiQuery(fill func(*donburiWorld, int)) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s := &donburiQuery{openDonburi(), n}
		fill(&s.donburiWorld, n)
		return s, nil
	}
}

// donburiPlain makes 10n entities that do not match, and n that do.
func donburiPlain(s *donburiWorld, n int) {
	s.w.CreateMany(10*n, donburiPosition)
	for i, e := range s.w.CreateMany(n, donburiBoth...) {
		donburiVelocity.SetValue(s.w.Entry(e), velocityOf(i))
	}
}

// donburiSpread is quarrySpread for donburi.
func donburiSpread(bits, noise int) func(*donburiWorld, int) {
	return func(s *donburiWorld, n int) {
		if noise > 0 {
			for i := range 4 * n {
				s.w.Create(donburiWith(i&(1<<noise-1), donburiPosition)...)
			}
		}
		for i := range n {
			e := s.w.Create(donburiWith(i&(1<<bits-1), donburiPosition, donburiVelocity)...)
			donburiVelocity.SetValue(s.w.Entry(e), velocityOf(i))
		}
	}
}

func (s *donburiQuery) pass(times int) {
	q, w := s.moving, s.w
	for range times {
		for e := range q.Iter(w) {
			p, v := donburiPosition.Get(e), donburiVelocity.Get(e)
			p.X += v.X
			p.Y += v.Y
		}
	}
}

func (s *donburiQuery) check(passes int) error { return s.tally(true).want(moved(s.n, passes)) }

// donburiRandom looks entities up in shuffled order.
type donburiRandom struct {
	donburiWorld
	list []ecs.Entity
	sum  float64
}

func buildDonburiRandom(n int) (trial, error) {
	s := &donburiRandom{donburiWorld: openDonburi()}
	s.list = s.w.CreateMany(n, donburiPosition)
	for i, e := range s.list {
		donburiPosition.SetValue(s.w.Entry(e), placeOf(i))
	}
	shuffle(s.list)
	return s, nil
}

func (s *donburiRandom) pass(times int) {
	sum, w := 0.0, s.w
	for range times {
		for _, e := range s.list {
			sum += donburiPosition.Get(w.Entry(e)).X
		}
	}
	s.sum += sum
}

func (s *donburiRandom) check(passes int) error { return wantSum(s.sum, len(s.list), passes) }
