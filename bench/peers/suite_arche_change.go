package main

import "github.com/mlange-42/arche/ecs"

// archeSets is schedule.
type archeSets struct {
	endless
	w             *ecs.World
	n             int
	a, b, c, d, e ecs.ID
	ab, cd, ce    ecs.Mask
}

func buildArcheSets(n int) (trial, error) {
	world := ecs.NewWorld(worldCapacity)
	w := &world
	s := &archeSets{w: w, n: n, a: ecs.ComponentID[A](w), b: ecs.ComponentID[B](w),
		c: ecs.ComponentID[C](w), d: ecs.ComponentID[D](w), e: ecs.ComponentID[E](w)}
	s.ab, s.cd, s.ce = ecs.All(s.a, s.b), ecs.All(s.c, s.d), ecs.All(s.c, s.e)
	for class, ids := range [sets][]ecs.ID{{s.a, s.b}, {s.a, s.b, s.c}, {s.a, s.b, s.c, s.d}, {s.a, s.b, s.c, s.e}} {
		if size := classSize(n, sets, class); size > 0 {
			w.Batch().New(size, ids...)
		}
	}
	for q := w.Query(&s.ab); q.Next(); {
		*(*A)(q.Get(s.a)), *(*B)(q.Get(s.b)) = A{1}, B{2}
	}
	for q := w.Query(&s.cd); q.Next(); {
		*(*C)(q.Get(s.c)), *(*D)(q.Get(s.d)) = C{3}, D{4}
	}
	for q := w.Query(&s.ce); q.Next(); {
		*(*C)(q.Get(s.c)), *(*E)(q.Get(s.e)) = C{3}, E{5}
	}
	return s, nil
}

// pass declares its queries before the loops: a loop variable whose address is taken is copied in
// every step.
func (s *archeSets) pass(times int) {
	w, ida, idb, idc, idd, ide := s.w, s.a, s.b, s.c, s.d, s.e
	for range times {
		ab := w.Query(&s.ab)
		for ab.Next() {
			a, b := (*A)(ab.Get(ida)), (*B)(ab.Get(idb))
			a.V, b.V = b.V, a.V
		}
		cd := w.Query(&s.cd)
		for cd.Next() {
			c, d := (*C)(cd.Get(idc)), (*D)(cd.Get(idd))
			c.V, d.V = d.V, c.V
		}
		ce := w.Query(&s.ce)
		for ce.Next() {
			c, e := (*C)(ce.Get(idc)), (*E)(ce.Get(ide))
			c.V, e.V = e.V, c.V
		}
	}
}

func (s *archeSets) check(passes int) error {
	var sums setSums
	for q := s.w.Query(&s.ab); q.Next(); {
		sums.ab.add(1, (*A)(q.Get(s.a)).V, (*B)(q.Get(s.b)).V)
	}
	for q := s.w.Query(&s.cd); q.Next(); {
		sums.cd.add(1, (*C)(q.Get(s.c)).V, (*D)(q.Get(s.d)).V)
	}
	for q := s.w.Query(&s.ce); q.Next(); {
		sums.ce.add(1, (*C)(q.Get(s.c)).V, (*E)(q.Get(s.e)).V)
	}
	return sums.want(scheduled(s.n, passes))
}

// archeExchange is add_remove of ecs_bench_suite, entity by entity.
type archeExchange struct {
	endless
	w     *ecs.World
	a     ecs.ID
	b     []ecs.ID
	list  []ecs.Entity
	still ecs.MaskFilter
	both  ecs.Mask
}

func newArcheExchange(n int) *archeExchange {
	world := ecs.NewWorld(worldCapacity)
	s := &archeExchange{w: &world, a: ecs.ComponentID[A](&world), b: []ecs.ID{ecs.ComponentID[B](&world)}}
	s.still, s.both = ecs.All(s.a).Without(s.b...), ecs.All(s.a, s.b[0])
	for q := s.w.Batch().NewQ(n, s.a); q.Next(); {
		*(*A)(q.Get(s.a)) = A{1}
		s.list = append(s.list, q.Entity())
	}
	return s
}

func (s *archeExchange) pass(times int) {
	w, b := s.w, s.b
	for range times {
		for _, e := range s.list {
			w.Add(e, b...)
		}
		for _, e := range s.list {
			w.Remove(e, b...)
		}
	}
}

func (s *archeExchange) check(int) error {
	both := s.w.Query(&s.both)
	defer both.Close()
	if err := wantCount("entities with B", both.Count(), 0); err != nil {
		return err
	}
	var got, want checksum
	for q := s.w.Query(&s.still); q.Next(); {
		got.add(1, (*A)(q.Get(s.a)).V)
	}
	want.add(len(s.list), 1)
	return got.want(want)
}

// archeExchangeBatch does the same by filters.
type archeExchangeBatch struct{ *archeExchange }

func (s archeExchangeBatch) pass(times int) {
	for range times {
		s.w.Batch().Add(&s.still, s.b...)
		s.w.Batch().Remove(&s.both, s.b...)
	}
}
