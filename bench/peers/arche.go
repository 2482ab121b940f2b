package main

import (
	"time"

	"github.com/mlange-42/arche/ecs"
)

// Entrants of arche, by its IDs, which arche documents as the fastest way.
const (
	arche          = "arche"
	archeCached    = "arche registered"
	archeBatch     = "arche batch"
	archeUnchecked = "arche unchecked"
)

var archeWays = []way{
	{"query2comp", arche, buildArcheQuery(archePlain, false)},
	{"query2comp", archeCached, buildArcheQuery(archePlain, true)},
	{"query32arch", arche, buildArcheQuery(archeSpread(5, 0), false)},
	{"query32arch", archeCached, buildArcheQuery(archeSpread(5, 0), true)},
	{"query256arch", arche, buildArcheQuery(archeSpread(0, 8), false)},
	{"query256arch", archeCached, buildArcheQuery(archeSpread(0, 8), true)},
	{"random", arche, buildArcheRandom},
	{"random", archeUnchecked, buildArcheRandomUnchecked},
	{"create2comp", arche, buildArcheCreate(2)},
	{"create2comp-batch", archeBatch, buildArcheCreateBatch(2)},
	{"create2comp_alloc", arche, buildArcheAlloc(false)},
	{"create2comp_alloc", archeBatch, buildArcheAlloc(true)},
	{"create10comp", arche, buildArcheCreate(10)},
	{"create10comp-batch", archeBatch, buildArcheCreateBatch(10)},
	{"delete2comp", arche, buildArcheDelete(2)},
	{"delete2comp-batch", archeBatch, buildArcheDeleteBatch(2)},
	{"delete10comp", arche, buildArcheDelete(10)},
	{"delete10comp-batch", archeBatch, buildArcheDeleteBatch(10)},
	{"add_remove", arche, buildArcheAddRemove(0, inOrder)},
	{"add_remove-shuffled", arche, buildArcheAddRemove(0, shuffled)},
	{"add_remove_large", arche, buildArcheAddRemove(10, inOrder)},
	{"add_remove-batch", archeBatch, buildArcheAddRemoveBatch(0, inOrder)},
	{"add_remove-batch-shuffled", archeBatch, buildArcheAddRemoveBatch(0, shuffled)},
	{"add_remove_large-batch", archeBatch, buildArcheAddRemoveBatch(10, inOrder)},
	{"create-worst", arche, buildArcheWorst},
	{"new_world", arche, buildArcheNewWorld},
	{"memory", arche, buildArcheMemory(false)},
	{"memory", archeBatch, buildArcheMemory(true)},
	{"archetypes", "arche, small capacity", buildArcheArchetypes},
}

// archeWorld is a world of arche with the fields that all workloads need.
type archeWorld struct {
	endless
	w        *ecs.World
	position ecs.ID
	velocity ecs.ID
	both     []ecs.ID
	extra    []ecs.ID // C1 to C12
	moving   ecs.Mask
}

func openArche() archeWorld { return openArcheWith(worldCapacity) }

func openArcheWith(capacity int) archeWorld {
	world := ecs.NewWorld(capacity)
	w := &world
	s := archeWorld{
		w: w, position: ecs.ComponentID[Position](w), velocity: ecs.ComponentID[Velocity](w),
		extra: []ecs.ID{
			ecs.ComponentID[C1](w), ecs.ComponentID[C2](w), ecs.ComponentID[C3](w), ecs.ComponentID[C4](w),
			ecs.ComponentID[C5](w), ecs.ComponentID[C6](w), ecs.ComponentID[C7](w), ecs.ComponentID[C8](w),
			ecs.ComponentID[C9](w), ecs.ComponentID[C10](w), ecs.ComponentID[C11](w), ecs.ComponentID[C12](w),
		},
	}
	s.both = []ecs.ID{s.position, s.velocity}
	s.moving = ecs.All(s.both...)
	return s
}

// with returns the given types and the extras whose bits are set in mask.
func (s *archeWorld) with(mask int, ids ...ecs.ID) []ecs.ID {
	for i, id := range s.extra {
		if mask>>i&1 != 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

func (s *archeWorld) place(e ecs.Entity) *Position { return (*Position)(s.w.Get(e, s.position)) }

// tally sums up the entities with a Position that have a Velocity, or do not.
func (s *archeWorld) tally(velocity bool) tally {
	var f ecs.Filter = &s.moving
	if !velocity {
		without := ecs.All(s.position).Without(s.velocity)
		f = &without
	}
	var t tally
	for q := s.w.Query(f); q.Next(); {
		t.add((*Position)(q.Get(s.position)))
	}
	return t
}

// archeQuery moves everything that has Position and Velocity.
type archeQuery struct {
	archeWorld
	n int
}

// archeCachedQuery does the same by a filter that the world caches.
type archeCachedQuery struct {
	archeQuery
	cached ecs.CachedFilter
}

func buildArcheQuery(fill func(*archeWorld, int), register bool) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s := archeQuery{openArche(), n}
		if !register {
			fill(&s.archeWorld, n)
			return &s, nil
		}
		c := &archeCachedQuery{archeQuery: s}
		c.cached = c.w.Cache().Register(&c.moving)
		fill(&c.archeWorld, n)
		return c, nil
	}
}

// archePlain makes 10n entities that do not match, and n that do.
func archePlain(s *archeWorld, n int) {
	s.w.Batch().New(10*n, s.position)
	i := 0
	for q := s.w.Batch().NewQ(n, s.both...); q.Next(); i++ {
		*(*Velocity)(q.Get(s.velocity)) = velocityOf(i)
	}
}

// archeSpread is quarrySpread for arche.
func archeSpread(bits, noise int) func(*archeWorld, int) {
	return func(s *archeWorld, n int) {
		if noise > 0 {
			for i := range 4 * n {
				s.w.NewEntity(s.with(i&(1<<noise-1), s.position)...)
			}
		}
		for i := range n {
			e := s.w.NewEntity(s.with(i&(1<<bits-1), s.position, s.velocity)...)
			*(*Velocity)(s.w.Get(e, s.velocity)) = velocityOf(i)
		}
	}
}

func (s *archeQuery) pass(times int) {
	w, position, velocity := s.w, s.position, s.velocity
	for range times {
		q := w.Query(&s.moving)
		for q.Next() {
			p, v := (*Position)(q.Get(position)), (*Velocity)(q.Get(velocity))
			p.X += v.X
			p.Y += v.Y
		}
	}
}

func (s *archeCachedQuery) pass(times int) {
	w, position, velocity := s.w, s.position, s.velocity
	for range times {
		q := w.Query(&s.cached)
		for q.Next() {
			p, v := (*Position)(q.Get(position)), (*Velocity)(q.Get(velocity))
			p.X += v.X
			p.Y += v.Y
		}
	}
}

func (s *archeQuery) check(passes int) error { return s.tally(true).want(moved(s.n, passes)) }

// archeRandom looks entities up in shuffled order.
type archeRandom struct {
	archeWorld
	list []ecs.Entity
	sum  float64
}

func newArcheRandom(n int) *archeRandom {
	s := &archeRandom{archeWorld: openArche(), list: make([]ecs.Entity, n)}
	for i := range s.list {
		s.list[i] = s.w.NewEntity(s.position)
		*s.place(s.list[i]) = placeOf(i)
	}
	shuffle(s.list)
	return s
}

func buildArcheRandom(n int) (trial, error) { return newArcheRandom(n), nil }

func (s *archeRandom) pass(times int) {
	sum, w, position := 0.0, s.w, s.position
	for range times {
		for _, e := range s.list {
			// Safe because the ID is Position's, and every entity has one.
			sum += (*Position)(w.Get(e, position)).X
		}
	}
	s.sum += sum
}

func (s *archeRandom) check(passes int) error { return wantSum(s.sum, len(s.list), passes) }

// archeRandomUnchecked is archeRandom without the check that an entity is alive.
type archeRandomUnchecked struct{ *archeRandom }

func buildArcheRandomUnchecked(n int) (trial, error) {
	return archeRandomUnchecked{newArcheRandom(n)}, nil
}

func (s archeRandomUnchecked) pass(times int) {
	sum, w, position := 0.0, s.w, s.position
	for range times {
		for _, e := range s.list {
			// Safe because the ID is Position's, and every entity has one.
			sum += (*Position)(w.GetUnchecked(e, position)).X
		}
	}
	s.sum += sum
}

// archeWorst times every single create in a fresh world.
type archeWorst struct {
	archeWorld
	n int
}

func buildArcheWorst(n int) (trial, error) { return &archeWorst{openArche(), n}, nil }

func (s *archeWorst) steps(into []uint32) {
	for i := range into {
		start := time.Now()
		s.w.NewEntity(s.both...)
		into[i] = nanos(start)
	}
}

func (s *archeWorst) check(int) error { return s.tally(true).want(tally{count: s.n}) }

// archeNewWorld makes a world.
type archeNewWorld struct {
	endless
	w ecs.World
}

func buildArcheNewWorld(int) (trial, error) { return &archeNewWorld{}, nil }

func (s *archeNewWorld) once() { s.w = ecs.NewWorld(worldCapacity) }

func (s *archeNewWorld) restore() error { return nil }

func (s *archeNewWorld) check(int) error {
	position := ecs.ComponentID[Position](&s.w)
	s.w.NewEntity(position)
	q := s.w.Query(ecs.All(position))
	defer q.Close()
	return wantCount("entities", q.Count(), 1)
}
