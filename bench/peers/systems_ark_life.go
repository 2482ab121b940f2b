package main

import "github.com/mlange-42/ark/ecs"

var systemsArkLifeWays = []way{
	{"systems-create", ark, buildArkBirth(movingParts, false)},
	{"systems-create", arkBatch, buildArkBirth(movingParts, true)},
	{"systems-create-empty", ark, buildArkBirth(0, false)},
	{"systems-create-empty", arkBatch, buildArkBirth(0, true)},
	{"systems-destroy", ark, buildArkDeath(false)},
	{"systems-destroy", arkBatch, buildArkDeath(true)},
	{"systems-remove-add", ark, buildArkSwap(false)},
	{"systems-remove-add", arkBatch, buildArkSwap(true)},
	{"systems-unpack1", ark, buildArkUnpack(1)},
	{"systems-unpack2", ark, buildArkUnpack(2)},
	{"systems-unpack3", ark, buildArkUnpack(3)},
}

// arkBirth makes entities in a fresh world each time.
type arkBirth struct {
	arkActors
	movers *ecs.Map2[Position32, Velocity32]
	has    parts
	n      int
	batch  bool
}

func buildArkBirth(has parts, batch bool) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s := &arkBirth{has: has, n: n, batch: batch}
		return s, s.restore()
	}
}

func (s *arkBirth) restore() error {
	s.arkActors = openArkActors()
	s.movers = s.movers.New(s.w)
	return nil
}

func (s *arkBirth) once() {
	p, v := fresh.position, fresh.velocity
	switch {
	case s.batch && s.has == 0:
		s.w.NewEntities(s.n, nil)
	case s.batch:
		s.movers.NewBatch(s.n, &p, &v)
	case s.has == 0:
		for range s.n {
			s.w.NewEntity()
		}
	default:
		for range s.n {
			s.movers.NewEntity(&p, &v)
		}
	}
}

func (s *arkBirth) check(int) error {
	a := fresh
	a.has = s.has
	return s.census().want(alike(s.n, a.row()))
}

// arkCrowd is a world of entities with a list of them.
type arkCrowd struct {
	arkActors
	list   []ecs.Entity
	n      int
	first  *ecs.Map1[Position32]
	both   *ecs.Map2[Position32, Velocity32]
	triple *ecs.Map3[Position32, Velocity32, ActorData]
	placed *ecs.Filter1[Position32]
	lack   *ecs.Filter0
}

// newArkCrowd makes entities one by one, with the values of at.
func newArkCrowd(n int, at func(i, n int) actor) *arkCrowd {
	s := &arkCrowd{arkActors: openArkActors(), list: make([]ecs.Entity, n), n: n}
	s.first, s.both, s.triple = s.first.New(s.w), s.both.New(s.w), s.triple.New(s.w)
	s.placed, s.lack = s.placed.New(s.w), ecs.NewFilter0(s.w).Without(ecs.C[Position32]())
	for i := range s.list {
		a := at(i, n)
		if a.has&hasData != 0 {
			s.list[i] = s.triple.NewEntity(&a.position, &a.velocity, &a.data)
		} else {
			s.list[i] = s.both.NewEntity(&a.position, &a.velocity)
		}
	}
	return s
}

// arkDeath destroys all entities of a fresh world.
type arkDeath struct {
	*arkCrowd
	batch bool
}

func buildArkDeath(batch bool) func(int) (trial, error) {
	return func(n int) (trial, error) { return &arkDeath{newArkCrowd(n, minimalAt), batch}, nil }
}

func (s *arkDeath) once() {
	if s.batch {
		s.w.RemoveEntities(s.placed.Batch(), nil)
		return
	}
	for _, e := range s.list {
		s.w.RemoveEntity(e)
	}
}

func (s *arkDeath) restore() error {
	s.arkCrowd = newArkCrowd(s.n, minimalAt)
	return nil
}

func (s *arkDeath) check(int) error {
	for _, e := range s.list {
		if s.w.Alive(e) {
			return wrong("%v is alive", e)
		}
	}
	return s.census().want(census{})
}

// arkSwap takes Position from every entity and gives it back.
type arkSwap struct {
	*arkCrowd
	batch bool
}

func buildArkSwap(batch bool) func(int) (trial, error) {
	return func(n int) (trial, error) { return &arkSwap{newArkCrowd(n, minimalAt), batch}, nil }
}

func (s *arkSwap) pass(times int) {
	for range times {
		if s.batch {
			s.first.RemoveBatch(s.placed.Batch(), nil)
			s.first.AddBatchFn(s.lack.Batch(), nil)
			continue
		}
		for _, e := range s.list {
			s.first.Remove(e)
			s.first.AddFn(e, nil)
		}
	}
}

func (s *arkSwap) check(int) error { return s.census().want(alike(s.n, fresh.row())) }

// arkUnpack reads one to three components of every entity, in the order of
// creation.
type arkUnpack struct {
	*arkCrowd
	unpacked
	components int
}

func buildArkUnpack(components int) func(int) (trial, error) {
	return func(n int) (trial, error) {
		return &arkUnpack{arkCrowd: newArkCrowd(n, crowdAt(components)), components: components}, nil
	}
}

func (s *arkUnpack) pass(times int) {
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

func (s *arkUnpack) one() {
	sum := 0.0
	for _, e := range s.list {
		sum += float64(s.first.Get(e).X)
	}
	s.places += sum
}

func (s *arkUnpack) two() {
	sum := 0.0
	for _, e := range s.list {
		p, v := s.both.Get(e)
		sum += float64(p.X)
		sum += float64(v.Y)
	}
	s.places += sum
}

func (s *arkUnpack) three() {
	sum, numbers := 0.0, uint64(0)
	for _, e := range s.list {
		p, v, d := s.triple.Get(e)
		sum += float64(p.X)
		sum += float64(v.Y)
		if d != nil {
			numbers += uint64(d.Numgy)
		}
	}
	s.places += sum
	s.numbers += numbers
}

func (s *arkUnpack) check(passes int) error { return s.want(s.components, s.n, passes) }
