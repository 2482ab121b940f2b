package main

import "github.com/mlange-42/ark/ecs"

// arkPrefab makes copies of an entity of four components.
type arkPrefab struct {
	arkWorld
	m      *ecs.Map4[Position, Velocity, C1, C2]
	f      *ecs.Filter4[Position, Velocity, C1, C2]
	prefab ecs.Entity
	list   []ecs.Entity
	n      int
}

func newArkPrefab(n int) *arkPrefab {
	s := &arkPrefab{arkWorld: openArk(), n: n, list: make([]ecs.Entity, 0, n)}
	s.m, s.f = ecs.NewMap4[Position, Velocity, C1, C2](s.w), ecs.NewFilter4[Position, Velocity, C1, C2](s.w)
	s.m.NewBatchFn(n, nil)
	s.w.RemoveEntities(s.f.Batch(), nil)
	return s
}

func buildArkPrefab(n int) (trial, error) {
	s := newArkPrefab(n)
	c := patternValues
	s.prefab = s.m.NewEntity(&c.Position, &c.Velocity, &c.C1, &c.C2)
	return s, nil
}

//go:noinline
func (s *arkPrefab) once() {
	list, w, prefab := s.list, s.w, s.prefab
	for range s.n {
		list = append(list, w.CopyEntity(prefab))
	}
	s.list = list
}

func (s *arkPrefab) restore() error {
	for _, e := range s.list {
		s.w.RemoveEntity(e)
	}
	s.list = s.list[:0]
	return s.sum().want(copied(1))
}

func (s *arkPrefab) sum() (sum valuesSum) {
	for q := s.f.Query(); q.Next(); {
		p, v, a, b := q.Get()
		sum.add(p, v)
		sum.addExtra(a, b)
	}
	return sum
}

// check also counts the entity that was copied.
func (s *arkPrefab) check(int) error {
	if err := wantCount("entities in the list", len(s.list), s.n); err != nil {
		return err
	}
	return s.sum().want(copied(s.n + 1))
}

// arkPrefabBatch makes n entities with the same values at once: ark has no batch copy.
type arkPrefabBatch struct{ *arkPrefab }

func buildArkPrefabBatch(n int) (trial, error) { return arkPrefabBatch{newArkPrefab(n)}, nil }

//go:noinline
func (s arkPrefabBatch) once() {
	c := patternValues
	s.m.NewBatch(s.n, &c.Position, &c.Velocity, &c.C1, &c.C2)
}

func (s arkPrefabBatch) restore() error {
	s.w.RemoveEntities(s.f.Batch(), nil)
	return s.sum().want(valuesSum{})
}

func (s arkPrefabBatch) check(int) error { return s.sum().want(copied(s.n)) }

// arkFive adds three pairs of the components of an entity, entity by entity.
type arkFive struct {
	arkWorld
	f *ecs.Filter5[Position, Velocity, C1, C2, C3]
	n int
}

func newArkFive(n int) *arkFive {
	s := &arkFive{arkWorld: openArk(), n: n}
	s.f = ecs.NewFilter5[Position, Velocity, C1, C2, C3](s.w)
	i := 0
	ecs.NewMap5[Position, Velocity, C1, C2, C3](s.w).NewBatchFn(n,
		func(_ ecs.Entity, _ *Position, v *Velocity, _ *C1, c *C2, _ *C3) {
			*v, *c = velocityOf(i), secondOf(i)
			i++
		})
	return s
}

//go:noinline
func (s *arkFive) pass(times int) {
	f := s.f
	for range times {
		q := f.Query()
		for q.Next() {
			p, v, c1, c2, c3 := q.Get()
			p.X += v.X
			p.Y += v.Y
			c1.X += c2.X
			c1.Y += c2.Y
			c3.X += v.X
			c3.Y += v.Y
		}
	}
}

func (s *arkFive) check(passes int) error {
	var got [3]tally
	for q := s.f.Query(); q.Next(); {
		p, _, c1, _, c3 := q.Get()
		got[0].add(p)
		got[1].add((*Position)(c1))
		got[2].add((*Position)(c3))
	}
	return wantFive(got, s.n, passes)
}

// arkFiveTables is arkFive by the columns of each table.
type arkFiveTables struct{ *arkFive }

//go:noinline
func (s arkFiveTables) pass(times int) {
	f := s.f
	for range times {
		q := f.Query()
		for q.NextTable() {
			addFive(q.GetColumns())
		}
	}
}
