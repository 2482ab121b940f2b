package main

import "quarry/ecs"

var systemsQuarryUnpackWays = []way{
	{"systems-unpack1", quarry, buildQuarryUnpack(1)},
	{"systems-unpack1", quarryMany, buildQuarryUnpackMany(1)},
	{"systems-unpack2", quarry, buildQuarryUnpack(2)},
	{"systems-unpack2", quarryMany, buildQuarryUnpackMany(2)},
	{"systems-unpack3", quarry, buildQuarryUnpack(3)},
	{"systems-unpack3", quarryMany, buildQuarryUnpackMany(3)},
}

// quarryUnpack reads one to three components of every entity, in the order of
// creation.
type quarryUnpack struct {
	*quarryCrowd
	unpacked
	components int
}

func newQuarryUnpack(components, n int) (*quarryUnpack, error) {
	c, err := newQuarryCrowd(n, crowdAt(components))
	return &quarryUnpack{quarryCrowd: c, components: components}, err
}

func buildQuarryUnpack(components int) func(int) (trial, error) {
	return func(n int) (trial, error) { return newQuarryUnpack(components, n) }
}

func (s *quarryUnpack) pass(times int) {
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

func (s *quarryUnpack) one() {
	sum := 0.0
	for _, e := range s.list {
		sum += float64(s.position.Get(e).X)
	}
	s.places += sum
}

func (s *quarryUnpack) two() {
	sum := 0.0
	for _, e := range s.list {
		sum += float64(s.position.Get(e).X)
		sum += float64(s.velocity.Get(e).Y)
	}
	s.places += sum
}

func (s *quarryUnpack) three() {
	sum, numbers := 0.0, uint64(0)
	for _, e := range s.list {
		sum += float64(s.position.Get(e).X)
		sum += float64(s.velocity.Get(e).Y)
		if d := s.data.Get(e); d != nil {
			numbers += uint64(d.Numgy)
		}
	}
	s.places += sum
	s.numbers += numbers
}

func (s *quarryUnpack) check(passes int) error { return s.want(s.components, s.n, passes) }

// quarryUnpackMany does the same by lists.
type quarryUnpackMany struct {
	*quarryUnpack
	positions  []*Position32
	velocities []*Velocity32
	datas      []*ActorData
}

func buildQuarryUnpackMany(components int) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s, err := newQuarryUnpack(components, n)
		return &quarryUnpackMany{
			s, make([]*Position32, 0, manyAtOnce), make([]*Velocity32, 0, manyAtOnce),
			make([]*ActorData, 0, manyAtOnce),
		}, err
	}
}

func (s *quarryUnpackMany) pass(times int) {
	for range times {
		for rest := s.list; len(rest) > 0; {
			k := min(manyAtOnce, len(rest))
			s.many(rest[:k])
			rest = rest[k:]
		}
	}
}

func (s *quarryUnpackMany) many(list []ecs.Entity) {
	s.positions = s.position.GetList(s.positions[:0], list)
	for _, p := range s.positions {
		s.places += float64(p.X)
	}
	if s.components < 2 {
		return
	}
	s.velocities = s.velocity.GetList(s.velocities[:0], list)
	for _, v := range s.velocities {
		s.places += float64(v.Y)
	}
	if s.components < 3 {
		return
	}
	s.datas = s.data.GetList(s.datas[:0], list)
	for _, d := range s.datas {
		if d != nil {
			s.numbers += uint64(d.Numgy)
		}
	}
}
