package main

import "github.com/mlange-42/ark/ecs"

// ark on the workloads of ecs_bench_suite: by tables and batches, its fastest ways, and entity by
// entity where that differs.
var suiteArkWays = []way{
	{insert, arkBatch, func(n int) (trial, error) { return &arkBirths{n: n}, nil }},
	{iteration, arkTables, buildArkSuiteMove},
	{fragments, arkTables, buildArkFragments(false)},
	{fragments, arkCached, buildArkFragments(true)},
	{schedule, arkTables, buildArkSets},
	{heavy, arkTables, buildArkHeavy},
	{exchange, ark, func(n int) (trial, error) { return newArkExchange(n), nil }},
	{exchange, arkBatch, func(n int) (trial, error) { return arkExchangeBatch{newArkExchange(n)}, nil }},
}

// arkLetters registers A to Z.
func arkLetters(w *ecs.World) []ecs.ID {
	return []ecs.ID{
		ecs.ComponentID[A](w), ecs.ComponentID[B](w), ecs.ComponentID[C](w), ecs.ComponentID[D](w),
		ecs.ComponentID[E](w), ecs.ComponentID[F](w), ecs.ComponentID[G](w), ecs.ComponentID[H](w),
		ecs.ComponentID[I](w), ecs.ComponentID[J](w), ecs.ComponentID[K](w), ecs.ComponentID[L](w),
		ecs.ComponentID[M](w), ecs.ComponentID[N](w), ecs.ComponentID[O](w), ecs.ComponentID[P](w),
		ecs.ComponentID[Q](w), ecs.ComponentID[R](w), ecs.ComponentID[S](w), ecs.ComponentID[T](w),
		ecs.ComponentID[U](w), ecs.ComponentID[V](w), ecs.ComponentID[W](w), ecs.ComponentID[X](w),
		ecs.ComponentID[Y](w), ecs.ComponentID[Z](w),
	}
}

// arkBirths makes a world with room for all, which is fastest to fill, and fills it.
type arkBirths struct {
	endless
	n int
	w *ecs.World
}

func (s *arkBirths) once() {
	s.w = ecs.NewWorld(s.n)
	m := ecs.NewMap4[Transform, Position3, Rotation3, Velocity3](s.w)
	m.NewBatch(s.n, &identity, &unitPlace, &unitTurn, &unitSpeed)
}

func (s *arkBirths) restore() error { return nil }

func (s *arkBirths) check(int) error {
	var c checksum
	q := ecs.NewFilter4[Transform, Position3, Rotation3, Velocity3](s.w).Query()
	for q.Next() {
		t, p, r, v := q.Get()
		c.addBirth(1, t, *p, *r, *v)
	}
	return c.want(born(s.n))
}

// arkSuiteMove is simple_iter.
type arkSuiteMove struct {
	endless
	f *ecs.Filter2[Position3, Velocity3]
	n int
}

func buildArkSuiteMove(n int) (trial, error) {
	w, i := ecs.NewWorld(worldCapacity), 0
	ecs.NewMap4[Transform, Position3, Rotation3, Velocity3](w).NewBatchFn(n,
		func(_ ecs.Entity, _ *Transform, _ *Position3, _ *Rotation3, v *Velocity3) {
			*v = speedOf(i % speeds)
			i++
		})
	return &arkSuiteMove{f: ecs.NewFilter2[Position3, Velocity3](w), n: n}, nil
}

func (s *arkSuiteMove) pass(times int) {
	f := s.f
	for range times {
		q := f.Query()
		for q.NextTable() {
			step(q.GetColumns())
		}
	}
}

func (s *arkSuiteMove) check(passes int) error {
	var c checksum
	for q := s.f.Query(); q.Next(); {
		p, _ := q.Get()
		c.addPlace(1, *p)
	}
	return c.want(iterated(s.n, passes))
}

// arkFragments is fragmented_iter.
type arkFragments struct {
	endless
	w       *ecs.World
	ids     []ecs.ID
	f       *ecs.Filter1[Datum]
	n, from int
}

func buildArkFragments(register bool) func(int) (trial, error) {
	return func(n int) (trial, error) {
		w := ecs.NewWorld(worldCapacity)
		s := &arkFragments{w: w, ids: arkLetters(w), f: ecs.NewFilter1[Datum](w), n: n}
		if register {
			s.f = s.f.Register()
		}
		datum := ecs.ComponentID[Datum](w)
		for i := range n {
			w.Unsafe().NewEntity(s.ids[i%letters], datum)
		}
		s.reset()
		return s, nil
	}
}

func (s *arkFragments) reset() {
	datum := ecs.ComponentID[Datum](s.w)
	for class, id := range s.ids {
		q := ecs.NewUnsafeFilter(s.w, id, datum).Query()
		for q.Next() {
			// Safe because the ID is Datum's, and the filter requires it.
			*(*Datum)(q.Get(datum)) = datumOf(class)
		}
	}
}

func (s *arkFragments) pass(times int) {
	f := s.f
	for range times {
		q := f.Query()
		for q.NextTable() {
			double(q.GetColumns())
		}
	}
}

func (s *arkFragments) sum() (c checksum) {
	for q := s.f.Query(); q.Next(); {
		c.add(1, q.Get().V)
	}
	return c
}

func (s *arkFragments) check(passes int) error {
	err := checkDoubled(s, s.n, passes, s.from)
	s.from = passes
	return err
}

// arkSets is schedule.
type arkSets struct {
	endless
	n  int
	ab *ecs.Filter2[A, B]
	cd *ecs.Filter2[C, D]
	ce *ecs.Filter2[C, E]
}

func buildArkSets(n int) (trial, error) {
	w := ecs.NewWorld(worldCapacity)
	ecs.NewMap2[A, B](w).NewBatch(classSize(n, sets, 0), &A{1}, &B{2})
	ecs.NewMap3[A, B, C](w).NewBatch(classSize(n, sets, 1), &A{1}, &B{2}, &C{3})
	ecs.NewMap4[A, B, C, D](w).NewBatch(classSize(n, sets, 2), &A{1}, &B{2}, &C{3}, &D{4})
	ecs.NewMap4[A, B, C, E](w).NewBatch(classSize(n, sets, 3), &A{1}, &B{2}, &C{3}, &E{5})
	return &arkSets{n: n, ab: ecs.NewFilter2[A, B](w), cd: ecs.NewFilter2[C, D](w), ce: ecs.NewFilter2[C, E](w)}, nil
}

func (s *arkSets) pass(times int) {
	for range times {
		ab := s.ab.Query()
		for ab.NextTable() {
			swapAB(ab.GetColumns())
		}
		cd := s.cd.Query()
		for cd.NextTable() {
			swapCD(cd.GetColumns())
		}
		ce := s.ce.Query()
		for ce.NextTable() {
			swapCE(ce.GetColumns())
		}
	}
}

func (s *arkSets) check(passes int) error {
	var sums setSums
	for q := s.ab.Query(); q.Next(); {
		a, b := q.Get()
		sums.ab.add(1, a.V, b.V)
	}
	for q := s.cd.Query(); q.Next(); {
		c, d := q.Get()
		sums.cd.add(1, c.V, d.V)
	}
	for q := s.ce.Query(); q.Next(); {
		c, e := q.Get()
		sums.ce.add(1, c.V, e.V)
	}
	return sums.want(scheduled(s.n, passes))
}

// arkHeavy is heavy_compute.
type arkHeavy struct {
	endless
	n    int
	f    *ecs.Filter2[Transform, Position3]
	twin computed
}

func buildArkHeavy(n int) (trial, error) {
	w, i := ecs.NewWorld(worldCapacity), 0
	ecs.NewMap4[Transform, Position3, Rotation3, Velocity3](w).NewBatchFn(n,
		func(_ ecs.Entity, m *Transform, p *Position3, _ *Rotation3, _ *Velocity3) {
			*m, *p = rotation(), startOf(i%starts)
			i++
		})
	return &arkHeavy{n: n, f: ecs.NewFilter2[Transform, Position3](w), twin: newComputed(n)}, nil
}

func (s *arkHeavy) pass(times int) {
	for range times {
		q := s.f.Query()
		for q.NextTable() {
			m, p := q.GetColumns()
			for i := range m {
				compute(&m[i], &p[i])
			}
		}
	}
}

func (s *arkHeavy) check(passes int) error {
	var c checksum
	for q := s.f.Query(); q.Next(); {
		_, p := q.Get()
		c.addPlace(1, *p)
	}
	return c.want(s.twin.after(passes))
}

// arkExchange is add_remove of ecs_bench_suite, entity by entity.
type arkExchange struct {
	endless
	list  []ecs.Entity
	still *ecs.Filter1[A]
	both  *ecs.Filter2[A, B]
	m     *ecs.Map1[B]
}

func newArkExchange(n int) *arkExchange {
	w := ecs.NewWorld(worldCapacity)
	s := &arkExchange{
		still: ecs.NewFilter1[A](w).Without(ecs.C[B]()), both: ecs.NewFilter2[A, B](w), m: ecs.NewMap1[B](w),
	}
	ecs.NewMap1[A](w).NewBatchFn(n, func(e ecs.Entity, a *A) {
		*a = A{1}
		s.list = append(s.list, e)
	})
	return s
}

func (s *arkExchange) pass(times int) {
	m := s.m
	for range times {
		for _, e := range s.list {
			m.AddFn(e, nil)
		}
		for _, e := range s.list {
			m.Remove(e)
		}
	}
}

func (s *arkExchange) check(int) error {
	both := s.both.Query()
	defer both.Close()
	if err := wantCount("entities with B", both.Count(), 0); err != nil {
		return err
	}
	var got, want checksum
	for q := s.still.Query(); q.Next(); {
		got.add(1, q.Get().V)
	}
	want.add(len(s.list), 1)
	return got.want(want)
}

// arkExchangeBatch does the same by filters.
type arkExchangeBatch struct{ *arkExchange }

func (s arkExchangeBatch) pass(times int) {
	for range times {
		s.m.AddBatchFn(s.still.Batch(), nil)
		s.m.RemoveBatch(s.both.Batch(), nil)
	}
}
