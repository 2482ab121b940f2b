package main

import "github.com/mlange-42/ark/ecs"

var arkSingleWays = []way{
	{"random-write", ark, func(n int) (trial, error) { return arkWrite{newArkRandom(n)}, nil }},
	{"random2comp", ark, buildArkPair},
	{"create2comp-set", ark, func(n int) (trial, error) { return arkMake{newArkLife(n)}, nil }},
	{"create2comp-set-batch", arkBatch, func(n int) (trial, error) { return arkMakeBatch{newArkLife(n)}, nil }},
	{"add_remove_eight-shuffled", ark, buildArkAddRemove(8, shuffled)},
	{"world2types", ark, func(int) (trial, error) { return &arkTwoTypes{}, nil }},
	{"disable_enable", arkTag, buildArkToggle},
	{"prefab4comp", ark, buildArkPrefab},
	{"prefab4comp-batch", arkBatch, buildArkPrefabBatch},
	{"query256spread", ark, buildArkQuery(arkSpread(8, 0), false)},
	{"query256spread", arkTables, buildArkTables(arkSpread(8, 0), false)},
	{"query5comp", ark, func(n int) (trial, error) { return newArkFive(n), nil }},
	{"query5comp", arkTables, func(n int) (trial, error) { return arkFiveTables{newArkFive(n)}, nil }},
	{"query2comp-threads", arkTables, buildArkTables(arkMovers, false)},
}

// arkWrite changes Positions in shuffled order. Get checks that the entity is alive, and returns
// nil if it lacks the component.
type arkWrite struct{ *arkRandom }

//go:noinline
func (s arkWrite) pass(times int) {
	places := s.places
	for range times {
		for _, e := range s.list {
			if p := places.Get(e); p != nil {
				p.X++
			}
		}
	}
}

func (s arkWrite) check(passes int) error { return s.tally(false).want(written(len(s.list), passes)) }

// arkPair reads two components of entities in shuffled order.
type arkPair struct {
	arkWorld
	list []ecs.Entity
	sum  float64
}

func buildArkPair(n int) (trial, error) {
	s := &arkPair{arkWorld: openArk(), list: make([]ecs.Entity, 0, n)}
	s.movers.NewBatchFn(n, func(e ecs.Entity, p *Position, v *Velocity) {
		*p, *v = placeOf(len(s.list)), velocityOf(len(s.list))
		s.list = append(s.list, e)
	})
	shuffle(s.list)
	return s, nil
}

//go:noinline
func (s *arkPair) pass(times int) {
	sum, movers := 0.0, s.movers
	for range times {
		for _, e := range s.list {
			p, v := movers.Get(e)
			sum += p.X + v.Y
		}
	}
	s.sum += sum
}

func (s *arkPair) check(passes int) error { return wantPairSum(s.sum, len(s.list), passes) }

// arkMake makes entities with two values, one by one.
type arkMake struct{ *arkLife }

//go:noinline
func (s arkMake) once() {
	list, movers := s.list, s.movers
	for i := range s.n {
		p, v := placeOf(i), velocityOf(i)
		list = append(list, movers.NewEntity(&p, &v))
	}
	s.list = list
}

func (s arkMake) check(int) error {
	if err := wantCount("entities in the list", len(s.list), s.n); err != nil {
		return err
	}
	return s.values().want(valued(s.n))
}

// values sums up all entities with Position and Velocity.
func (s *arkWorld) values() (sum valuesSum) {
	for q := s.moving.Query(); q.Next(); {
		sum.add(q.Get())
	}
	return sum
}

// arkMakeBatch makes all entities at once; the callback is ark's way to set values that differ.
type arkMakeBatch struct{ *arkLife }

//go:noinline
func (s arkMakeBatch) once() {
	i := 0
	s.movers.NewBatchFn(s.n, func(_ ecs.Entity, p *Position, v *Velocity) {
		*p, *v = placeOf(i), velocityOf(i)
		i++
	})
}

func (s arkMakeBatch) check(int) error { return s.values().want(valued(s.n)) }

// tag has no fields.
type tag struct{}

// arkToggle takes a tag off and puts it on: ark cannot disable components.
type arkToggle struct {
	arkWorld
	list []ecs.Entity
	m    *ecs.Map1[tag]
	f    *ecs.Filter1[tag]
}

func buildArkToggle(n int) (trial, error) {
	s := &arkToggle{arkWorld: openArk(), list: make([]ecs.Entity, 0, n)}
	s.m, s.f = ecs.NewMap1[tag](s.w), ecs.NewFilter1[tag](s.w)
	ecs.NewMap2[Position, tag](s.w).NewBatchFn(n, func(e ecs.Entity, _ *Position, _ *tag) {
		s.list = append(s.list, e)
	})
	shuffle(s.list)
	return s, nil
}

func (s *arkToggle) pass(times int) {
	for range times {
		s.off()
		s.back()
	}
}

//go:noinline
func (s *arkToggle) off() {
	m := s.m
	for _, e := range s.list {
		m.Remove(e)
	}
}

//go:noinline
func (s *arkToggle) back() {
	m := s.m
	for _, e := range s.list {
		m.AddFn(e, nil)
	}
}

func (s *arkToggle) count() int {
	q := s.f.Query()
	defer q.Close()
	return q.Count()
}

func (s *arkToggle) check(int) error { return checkToggled(s.count, s.off, s.back, len(s.list)) }
