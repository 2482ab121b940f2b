package main

import (
	"quarry/alloc"
	"quarry/asm"
	"quarry/ecs"
	"quarry/layout"
)

// Ours on the workloads of ecs_bench_suite.
var suiteQuarryWays = []way{
	{insert, quarryBatch, buildQuarryBirths(false)},
	{insert, quarryWarm, buildQuarryBirths(true)},
	{iteration, quarry, func(n int) (trial, error) { return newQuarrySuiteMove(n) }},
	{iteration, quarryKernel, buildQuarrySuiteFlat},
	{fragments, quarry, buildQuarryFragments},
	{schedule, quarry, buildQuarrySets},
	{heavy, quarry, buildQuarryHeavy},
	{exchange, quarry, func(n int) (trial, error) { return newQuarryExchange(n) }},
	{exchange, quarryBatch, buildQuarryExchangeBatch},
}

// quarryLetters registers A to Z.
func quarryLetters(w *ecs.World) []ecs.Type {
	return []ecs.Type{
		ecs.Register[A](w), ecs.Register[B](w), ecs.Register[C](w), ecs.Register[D](w), ecs.Register[E](w),
		ecs.Register[F](w), ecs.Register[G](w), ecs.Register[H](w), ecs.Register[I](w), ecs.Register[J](w),
		ecs.Register[K](w), ecs.Register[L](w), ecs.Register[M](w), ecs.Register[N](w), ecs.Register[O](w),
		ecs.Register[P](w), ecs.Register[Q](w), ecs.Register[R](w), ecs.Register[S](w), ecs.Register[T](w),
		ecs.Register[U](w), ecs.Register[V](w), ecs.Register[W](w), ecs.Register[X](w), ecs.Register[Y](w),
		ecs.Register[Z](w),
	}
}

// quarrySuite is a world of ours with n entities.
type quarrySuite struct {
	w *ecs.World
	n int
}

func openQuarrySuite(n int) (quarrySuite, error) {
	w, err := ecs.NewWorld()
	return quarrySuite{w, n}, err
}

func (s *quarrySuite) close() error { return s.w.Close() }

func (s *quarrySuite) committed() int64 { return int64(s.w.Universe().Stats().Committed) }

// quarryBirths makes a world and fills it; closing the previous world is timed too, because
// ecs_bench_suite times the end of a world.
type quarryBirths struct {
	quarrySuite
	shared  *alloc.Universe // source of the worlds' chunks, or nil
	options []ecs.Option
	t       ecs.Component[Transform]
	p       ecs.Component[Position3]
	r       ecs.Component[Rotation3]
	v       ecs.Component[Velocity3]
	err     error
}

func buildQuarryBirths(shared bool) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s := &quarryBirths{quarrySuite: quarrySuite{n: n}}
		if !shared {
			return s, nil
		}
		var err error
		s.shared, err = alloc.NewUniverse()
		s.options = []ecs.Option{ecs.WithUniverse(s.shared)}
		return s, err
	}
}

func (s *quarryBirths) once() {
	if s.w != nil {
		s.err = s.w.Close()
	}
	if s.err == nil {
		s.w, s.err = ecs.NewWorld(s.options...)
	}
	if s.err == nil {
		s.err = s.fill()
	}
}

func (s *quarryBirths) fill() error {
	s.t, s.p = ecs.Register[Transform](s.w), ecs.Register[Position3](s.w)
	s.r, s.v = ecs.Register[Rotation3](s.w), ecs.Register[Velocity3](s.w)
	batch, err := ecs.NewArchetype(s.w, s.t, s.p, s.r, s.v).CreateN(s.n, ecs.Uninitialized(s.t, s.p, s.r, s.v))
	for rows := range batch.Rows() {
		asm.Fill(s.t.Slice(rows), identity)
		asm.Fill(s.p.Slice(rows), unitPlace)
		asm.Fill(s.r.Slice(rows), unitTurn)
		asm.Fill(s.v.Slice(rows), unitSpeed)
	}
	return err
}

func (s *quarryBirths) restore() error { return s.err }

func (s *quarryBirths) check(int) error {
	if s.err != nil {
		return s.err
	}
	var c checksum
	for rows := range ecs.NewQuery(s.w, ecs.Read(s.t), ecs.Read(s.p), ecs.Read(s.r), ecs.Read(s.v)).Rows() {
		t, p, r, v := s.t.Slice(rows), s.p.Slice(rows), s.r.Slice(rows), s.v.Slice(rows)
		for i := range t {
			c.addBirth(1, &t[i], p[i], r[i], v[i])
		}
	}
	return c.want(born(s.n))
}

func (s *quarryBirths) close() error {
	if s.w != nil {
		s.err = s.w.Close()
	}
	if s.err == nil && s.shared != nil {
		s.err = s.shared.Close()
	}
	return s.err
}

// quarrySuiteMove is simple_iter by slices.
type quarrySuiteMove struct {
	quarrySuite
	p ecs.Component[Position3]
	v ecs.Component[Velocity3]
	q *ecs.Query
}

func newQuarrySuiteMove(n int) (*quarrySuiteMove, error) {
	world, err := openQuarrySuite(n)
	if err != nil {
		return nil, err
	}
	w := world.w
	s := &quarrySuiteMove{quarrySuite: world, p: ecs.Register[Position3](w), v: ecs.Register[Velocity3](w)}
	t, r := ecs.Register[Transform](w), ecs.Register[Rotation3](w)
	batch, err := ecs.NewArchetype(w, t, s.p, r, s.v).CreateN(n)
	i := 0
	for rows := range batch.Rows() {
		v := s.v.Slice(rows)
		for k := range v {
			v[k] = speedOf(i % speeds)
			i++
		}
	}
	s.q = ecs.NewQuery(w, ecs.Write(s.p), ecs.Read(s.v))
	return s, err
}

func (s *quarrySuiteMove) pass(times int) {
	q, position, velocity := s.q, s.p, s.v
	for range times {
		for rows := range q.Rows() {
			step(position.Slice(rows), velocity.Slice(rows))
		}
	}
}

func (s *quarrySuiteMove) check(passes int) error {
	var c checksum
	for rows := range s.q.Rows() {
		for _, p := range s.p.Slice(rows) {
			c.addPlace(1, p)
		}
	}
	return c.want(iterated(s.n, passes))
}

// quarrySuiteFlat is simple_iter with the vector kernel on flat columns.
type quarrySuiteFlat struct{ *quarrySuiteMove }

func buildQuarrySuiteFlat(n int) (trial, error) {
	s, err := newQuarrySuiteMove(n)
	return quarrySuiteFlat{s}, err
}

func (s quarrySuiteFlat) pass(times int) {
	q, position, velocity := s.q, s.p, s.v
	for range times {
		for rows := range q.Rows() {
			asm.Add(layout.Flat[float32](position.Slice(rows)), layout.Flat[float32](velocity.Slice(rows)))
		}
	}
}

// quarryFragments is fragmented_iter.
type quarryFragments struct {
	quarrySuite
	data ecs.Component[Datum]
	q    *ecs.Query
	from int
}

func buildQuarryFragments(n int) (trial, error) {
	world, err := openQuarrySuite(n)
	if err != nil {
		return nil, err
	}
	s := &quarryFragments{quarrySuite: world, data: ecs.Register[Datum](world.w)}
	for class, letter := range quarryLetters(s.w) {
		a := ecs.NewArchetype(s.w, letter, s.data)
		if _, err := a.CreateN(max(0, classSize(n, letters, class))); err != nil {
			return nil, err
		}
	}
	s.q = ecs.NewQuery(s.w, ecs.Write(s.data))
	s.reset()
	return s, nil
}

func (s *quarryFragments) reset() {
	for class, letter := range quarryLetters(s.w) {
		q := ecs.NewQuery(s.w, ecs.Write(s.data), ecs.With(letter))
		for rows := range q.Rows() {
			asm.Fill(s.data.Slice(rows), datumOf(class))
		}
		q.Close()
	}
}

func (s *quarryFragments) pass(times int) {
	q, data := s.q, s.data
	for range times {
		for rows := range q.Rows() {
			double(data.Slice(rows))
		}
	}
}

func (s *quarryFragments) sum() (c checksum) {
	for rows := range s.q.Rows() {
		for _, d := range s.data.Slice(rows) {
			c.add(1, d.V)
		}
	}
	return c
}

func (s *quarryFragments) check(passes int) error {
	err := checkDoubled(s, s.n, passes, s.from)
	s.from = passes
	return err
}
