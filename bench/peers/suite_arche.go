package main

import "github.com/mlange-42/arche/ecs"

// arche on the workloads of ecs_bench_suite, by its IDs and batches.
var suiteArcheWays = []way{
	{insert, archeBatch, func(n int) (trial, error) { return &archeBirths{n: n}, nil }},
	{iteration, arche, buildArcheSuiteMove},
	{fragments, arche, buildArcheFragments(false)},
	{fragments, archeCached, buildArcheFragments(true)},
	{schedule, arche, buildArcheSets},
	{heavy, arche, buildArcheHeavy},
	{exchange, arche, func(n int) (trial, error) { return newArcheExchange(n), nil }},
	{exchange, archeBatch, func(n int) (trial, error) { return archeExchangeBatch{newArcheExchange(n)}, nil }},
}

// archeLetters registers A to Z.
func archeLetters(w *ecs.World) []ecs.ID {
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

// archeSuite is a world of arche with n entities that have the four components.
type archeSuite struct {
	endless
	w          *ecs.World
	n          int
	t, p, r, v ecs.ID
}

// openArcheSuite makes a world with room for all entities, which is fastest to fill.
func openArcheSuite(n int) archeSuite {
	world := ecs.NewWorld(n)
	w := &world
	return archeSuite{w: w, n: n, t: ecs.ComponentID[Transform](w), p: ecs.ComponentID[Position3](w),
		r: ecs.ComponentID[Rotation3](w), v: ecs.ComponentID[Velocity3](w)}
}

// fill makes the entities; the query yields each once.
func (s *archeSuite) fill() ecs.Query { return s.w.Batch().NewQ(s.n, s.t, s.p, s.r, s.v) }

// places is the checksum of all positions.
func (s *archeSuite) places() (c checksum) {
	for q := s.w.Query(ecs.All(s.p)); q.Next(); {
		// Safe because the ID is Position3's, and the filter requires it.
		c.addPlace(1, *(*Position3)(q.Get(s.p)))
	}
	return c
}

// archeBirths makes a world and fills it.
type archeBirths struct {
	archeSuite
	n int
}

func (s *archeBirths) once() {
	s.archeSuite = openArcheSuite(s.n)
	q := s.fill()
	for q.Next() {
		// Safe because each ID belongs to the type, and the batch has all four.
		*(*Transform)(q.Get(s.t)), *(*Position3)(q.Get(s.p)) = identity, unitPlace
		*(*Rotation3)(q.Get(s.r)), *(*Velocity3)(q.Get(s.v)) = unitTurn, unitSpeed
	}
}

func (s *archeBirths) restore() error { return nil }

func (s *archeBirths) check(int) error {
	var c checksum
	for q := s.w.Query(ecs.All(s.t, s.p, s.r, s.v)); q.Next(); {
		// Safe because each ID belongs to the type, and the filter requires all four.
		c.addBirth(1, (*Transform)(q.Get(s.t)), *(*Position3)(q.Get(s.p)), *(*Rotation3)(q.Get(s.r)),
			*(*Velocity3)(q.Get(s.v)))
	}
	return c.want(born(s.n))
}

// archeSuiteMove is simple_iter.
type archeSuiteMove struct {
	archeSuite
	f ecs.Mask
}

func buildArcheSuiteMove(n int) (trial, error) {
	s := &archeSuiteMove{archeSuite: openArcheSuite(n)}
	s.f = ecs.All(s.p, s.v)
	i := 0
	for q := s.fill(); q.Next(); i++ {
		*(*Velocity3)(q.Get(s.v)) = speedOf(i % speeds)
	}
	return s, nil
}

func (s *archeSuiteMove) pass(times int) {
	w, position, velocity := s.w, s.p, s.v
	for range times {
		q := w.Query(&s.f)
		for q.Next() {
			p, v := (*Position3)(q.Get(position)), (*Velocity3)(q.Get(velocity))
			p.X += v.X
			p.Y += v.Y
			p.Z += v.Z
		}
	}
}

func (s *archeSuiteMove) check(passes int) error { return s.places().want(iterated(s.n, passes)) }

// archeFragments is fragmented_iter.
type archeFragments struct {
	endless
	w       *ecs.World
	ids     []ecs.ID
	datum   ecs.ID
	f       ecs.Filter
	n, from int
}

func buildArcheFragments(register bool) func(int) (trial, error) {
	return func(n int) (trial, error) {
		world := ecs.NewWorld(worldCapacity)
		s := &archeFragments{w: &world, ids: archeLetters(&world), datum: ecs.ComponentID[Datum](&world), n: n}
		f := ecs.All(s.datum)
		s.f = &f
		if register {
			cached := s.w.Cache().Register(&f)
			s.f = &cached
		}
		for i := range n {
			s.w.NewEntity(s.ids[i%letters], s.datum)
		}
		s.reset()
		return s, nil
	}
}

func (s *archeFragments) reset() {
	for class, id := range s.ids {
		for q := s.w.Query(ecs.All(id, s.datum)); q.Next(); {
			*(*Datum)(q.Get(s.datum)) = datumOf(class)
		}
	}
}

func (s *archeFragments) pass(times int) {
	w, datum := s.w, s.datum
	for range times {
		q := w.Query(s.f)
		for q.Next() {
			(*Datum)(q.Get(datum)).V *= 2
		}
	}
}

func (s *archeFragments) sum() (c checksum) {
	for q := s.w.Query(s.f); q.Next(); {
		c.add(1, (*Datum)(q.Get(s.datum)).V)
	}
	return c
}

func (s *archeFragments) check(passes int) error {
	err := checkDoubled(s, s.n, passes, s.from)
	s.from = passes
	return err
}

// archeHeavy is heavy_compute.
type archeHeavy struct {
	archeSuite
	f    ecs.Mask
	twin computed
}

func buildArcheHeavy(n int) (trial, error) {
	s := &archeHeavy{archeSuite: openArcheSuite(n), twin: newComputed(n)}
	s.f = ecs.All(s.t, s.p)
	i := 0
	for q := s.fill(); q.Next(); i++ {
		*(*Transform)(q.Get(s.t)), *(*Position3)(q.Get(s.p)) = rotation(), startOf(i%starts)
	}
	return s, nil
}

func (s *archeHeavy) pass(times int) {
	for range times {
		q := s.w.Query(&s.f)
		for q.Next() {
			compute((*Transform)(q.Get(s.t)), (*Position3)(q.Get(s.p)))
		}
	}
}

func (s *archeHeavy) check(passes int) error { return s.places().want(s.twin.after(passes)) }
