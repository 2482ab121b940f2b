package main

import "github.com/mlange-42/arche/ecs"

var systemsArcheLifeWays = []way{
	{"systems-create", arche, buildArcheBirth(movingParts, false)},
	{"systems-create", archeBatch, buildArcheBirth(movingParts, true)},
	{"systems-create-empty", arche, buildArcheBirth(0, false)},
	{"systems-create-empty", archeBatch, buildArcheBirth(0, true)},
	{"systems-destroy", arche, buildArcheDeath(false)},
	{"systems-destroy", archeBatch, buildArcheDeath(true)},
	{"systems-remove-add", arche, buildArcheSwap(false)},
	{"systems-remove-add", archeBatch, buildArcheSwap(true)},
	{"systems-unpack1", arche, buildArcheUnpack(1)},
	{"systems-unpack2", arche, buildArcheUnpack(2)},
	{"systems-unpack3", arche, buildArcheUnpack(3)},
}

// archeBirth makes entities in a fresh world each time.
type archeBirth struct {
	archeActors
	has   parts
	ids   []ecs.ID
	n     int
	batch bool
}

func buildArcheBirth(has parts, batch bool) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s := &archeBirth{has: has, n: n, batch: batch}
		return s, s.restore()
	}
}

func (s *archeBirth) restore() error {
	s.archeActors = openArcheActors()
	s.ids = s.types(s.has)
	return nil
}

// once writes velocities through pointers; the other components of a new entity are zero. Safe
// because the ID belongs to the type.
func (s *archeBirth) once() {
	w, ids, velocity := s.w, s.ids, s.velocity
	switch {
	case s.batch && s.has == 0:
		w.Batch().New(s.n)
	case s.batch:
		for q := w.Batch().NewQ(s.n, ids...); q.Next(); {
			*(*Velocity32)(q.Get(velocity)) = fresh.velocity
		}
	case s.has == 0:
		for range s.n {
			w.NewEntity()
		}
	default:
		for range s.n {
			*(*Velocity32)(w.Get(w.NewEntity(ids...), velocity)) = fresh.velocity
		}
	}
}

func (s *archeBirth) check(int) error {
	a := fresh
	a.has = s.has
	return s.census().want(alike(s.n, a.row()))
}

// archeCrowd is a world of entities with a list of them.
type archeCrowd struct {
	archeActors
	list         []ecs.Entity
	n            int
	first        []ecs.ID // Position
	placed, lack ecs.Filter
}

// newArcheCrowd makes entities one by one, with the values of at.
func newArcheCrowd(n int, at func(i, n int) actor) *archeCrowd {
	s := &archeCrowd{archeActors: openArcheActors(), list: make([]ecs.Entity, n), n: n}
	placed, lack := ecs.All(s.position), ecs.All().Without(s.position)
	s.first, s.placed, s.lack = []ecs.ID{s.position}, &placed, &lack
	minimal, full := s.types(movingParts), s.types(movingParts|hasData)
	for i := range s.list {
		a := at(i, n)
		ids := minimal
		if a.has&hasData != 0 {
			ids = full
		}
		s.list[i] = s.w.NewEntity(ids...)
		s.row(s.list[i]).put(&a)
	}
	return s
}

// archeDeath destroys all entities of a fresh world.
type archeDeath struct {
	*archeCrowd
	batch bool
}

func buildArcheDeath(batch bool) func(int) (trial, error) {
	return func(n int) (trial, error) { return &archeDeath{newArcheCrowd(n, minimalAt), batch}, nil }
}

func (s *archeDeath) once() {
	if s.batch {
		s.w.Batch().RemoveEntities(s.placed)
		return
	}
	for _, e := range s.list {
		s.w.RemoveEntity(e)
	}
}

func (s *archeDeath) restore() error {
	s.archeCrowd = newArcheCrowd(s.n, minimalAt)
	return nil
}

func (s *archeDeath) check(int) error {
	for _, e := range s.list {
		if s.w.Alive(e) {
			return wrong("%v is alive", e)
		}
	}
	return s.census().want(census{})
}

// archeSwap takes Position from every entity and gives it back.
type archeSwap struct {
	*archeCrowd
	batch bool
}

func buildArcheSwap(batch bool) func(int) (trial, error) {
	return func(n int) (trial, error) { return &archeSwap{newArcheCrowd(n, minimalAt), batch}, nil }
}

func (s *archeSwap) pass(times int) {
	w, first := s.w, s.first
	for range times {
		if s.batch {
			w.Batch().Remove(s.placed, first...)
			w.Batch().Add(s.lack, first...)
			continue
		}
		for _, e := range s.list {
			w.Remove(e, first...)
			w.Add(e, first...)
		}
	}
}

func (s *archeSwap) check(int) error { return s.census().want(alike(s.n, fresh.row())) }

// archeUnpack reads one to three components of every entity, in the order of creation. Safe because
// each ID belongs to the type.
type archeUnpack struct {
	*archeCrowd
	unpacked
	components int
}

func buildArcheUnpack(components int) func(int) (trial, error) {
	return func(n int) (trial, error) {
		return &archeUnpack{archeCrowd: newArcheCrowd(n, crowdAt(components)), components: components}, nil
	}
}

func (s *archeUnpack) pass(times int) {
	for range times {
		switch s.components {
		case 1:
			s.one()
		case 2:
			s.two()
		case 3:
			s.three()
		}
	}
}

func (s *archeUnpack) one() {
	sum, w, position := 0.0, s.w, s.position
	for _, e := range s.list {
		sum += float64((*Position32)(w.Get(e, position)).X)
	}
	s.places += sum
}

func (s *archeUnpack) two() {
	sum, w, position, velocity := 0.0, s.w, s.position, s.velocity
	for _, e := range s.list {
		sum += float64((*Position32)(w.Get(e, position)).X)
		sum += float64((*Velocity32)(w.Get(e, velocity)).Y)
	}
	s.places += sum
}

func (s *archeUnpack) three() {
	sum, numbers, w := 0.0, uint64(0), s.w
	position, velocity, data := s.position, s.velocity, s.data
	for _, e := range s.list {
		sum += float64((*Position32)(w.Get(e, position)).X)
		sum += float64((*Velocity32)(w.Get(e, velocity)).Y)
		if d := (*ActorData)(w.Get(e, data)); d != nil {
			numbers += uint64(d.Numgy)
		}
	}
	s.places += sum
	s.numbers += numbers
}

func (s *archeUnpack) check(passes int) error { return s.want(s.components, s.n, passes) }
