package main

import "quarry/ecs"

// quarrySets is schedule.
type quarrySets struct {
	quarrySuite
	a          ecs.Component[A]
	b          ecs.Component[B]
	c          ecs.Component[C]
	d          ecs.Component[D]
	e          ecs.Component[E]
	ab, cd, ce *ecs.Query
}

func buildQuarrySets(n int) (trial, error) {
	world, err := openQuarrySuite(n)
	if err != nil {
		return nil, err
	}
	w := world.w
	s := &quarrySets{quarrySuite: world, a: ecs.Register[A](w), b: ecs.Register[B](w),
		c: ecs.Register[C](w), d: ecs.Register[D](w), e: ecs.Register[E](w)}
	for class, types := range [sets][]ecs.Type{
		{s.a, s.b}, {s.a, s.b, s.c}, {s.a, s.b, s.c, s.d}, {s.a, s.b, s.c, s.e},
	} {
		if _, err := ecs.NewArchetype(w, types...).CreateN(classSize(n, sets, class)); err != nil {
			return nil, err
		}
	}
	s.ab = ecs.NewQuery(w, ecs.Write(s.a), ecs.Write(s.b))
	s.cd = ecs.NewQuery(w, ecs.Write(s.c), ecs.Write(s.d))
	s.ce = ecs.NewQuery(w, ecs.Write(s.c), ecs.Write(s.e))
	setColumn(s.ab, s.a, A{1})
	setColumn(s.ab, s.b, B{2})
	setColumn(s.cd, s.c, C{3})
	setColumn(s.cd, s.d, D{4})
	setColumn(s.ce, s.c, C{3})
	setColumn(s.ce, s.e, E{5})
	return s, nil
}

// setColumn gives all entities of a query the same value.
func setColumn[T any](q *ecs.Query, c ecs.Component[T], v T) {
	for rows := range q.Rows() {
		column := c.Slice(rows)
		for i := range column {
			column[i] = v
		}
	}
}

func (s *quarrySets) pass(times int) {
	for range times {
		for rows := range s.ab.Rows() {
			swapAB(s.a.Slice(rows), s.b.Slice(rows))
		}
		for rows := range s.cd.Rows() {
			swapCD(s.c.Slice(rows), s.d.Slice(rows))
		}
		for rows := range s.ce.Rows() {
			swapCE(s.c.Slice(rows), s.e.Slice(rows))
		}
	}
}

func (s *quarrySets) check(passes int) error {
	var sums setSums
	for rows := range s.ab.Rows() {
		for i, a := range s.a.Slice(rows) {
			sums.ab.add(1, a.V, s.b.Slice(rows)[i].V)
		}
	}
	for rows := range s.cd.Rows() {
		for i, c := range s.c.Slice(rows) {
			sums.cd.add(1, c.V, s.d.Slice(rows)[i].V)
		}
	}
	for rows := range s.ce.Rows() {
		for i, c := range s.c.Slice(rows) {
			sums.ce.add(1, c.V, s.e.Slice(rows)[i].V)
		}
	}
	return sums.want(scheduled(s.n, passes))
}

// quarryHeavy is heavy_compute.
type quarryHeavy struct {
	quarrySuite
	m    ecs.Component[Transform]
	p    ecs.Component[Position3]
	q    *ecs.Query
	twin computed
}

func buildQuarryHeavy(n int) (trial, error) {
	world, err := openQuarrySuite(n)
	if err != nil {
		return nil, err
	}
	w := world.w
	s := &quarryHeavy{
		quarrySuite: world, twin: newComputed(n), m: ecs.Register[Transform](w), p: ecs.Register[Position3](w),
	}
	r, v := ecs.Register[Rotation3](w), ecs.Register[Velocity3](w)
	if _, err := ecs.NewArchetype(w, s.m, s.p, r, v).CreateN(n); err != nil {
		return nil, err
	}
	s.q = ecs.NewQuery(w, ecs.Write(s.m), ecs.Write(s.p))
	setColumn(s.q, s.m, rotation())
	i := 0
	for rows := range s.q.Rows() {
		p := s.p.Slice(rows)
		for k := range p {
			p[k] = startOf(i % starts)
			i++
		}
	}
	return s, nil
}

func (s *quarryHeavy) pass(times int) {
	for range times {
		for rows := range s.q.Rows() {
			m, p := s.m.Slice(rows), s.p.Slice(rows)
			for i := range m {
				compute(&m[i], &p[i])
			}
		}
	}
}

func (s *quarryHeavy) check(passes int) error {
	var c checksum
	for rows := range s.q.Rows() {
		for _, p := range s.p.Slice(rows) {
			c.addPlace(1, p)
		}
	}
	return c.want(s.twin.after(passes))
}

// quarryExchange is add_remove of ecs_bench_suite, entity by entity.
type quarryExchange struct {
	quarrySuite
	a           ecs.Component[A]
	b           ecs.Component[B]
	list        []ecs.Entity
	still, both *ecs.Query
}

func newQuarryExchange(n int) (*quarryExchange, error) {
	world, err := openQuarrySuite(n)
	if err != nil {
		return nil, err
	}
	w := world.w
	s := &quarryExchange{quarrySuite: world, a: ecs.Register[A](w), b: ecs.Register[B](w)}
	s.still = ecs.NewQuery(w, ecs.Write(s.a), ecs.Without(s.b))
	s.both = ecs.NewQuery(w, ecs.With(s.a), ecs.With(s.b))
	batch, err := ecs.NewArchetype(w, s.a).CreateN(n)
	s.list = batch.Entities(nil)
	setColumn(s.still, s.a, A{1})
	return s, err
}

func (s *quarryExchange) pass(times int) {
	b := s.b
	for range times {
		for _, e := range s.list {
			b.Add(e, B{})
		}
		for _, e := range s.list {
			b.Remove(e)
		}
	}
}

func (s *quarryExchange) check(int) error {
	if err := wantCount("entities with B", s.both.Count(), 0); err != nil {
		return err
	}
	var got, want checksum
	for rows := range s.still.Rows() {
		for _, a := range s.a.Slice(rows) {
			got.add(1, a.V)
		}
	}
	want.add(s.n, 1)
	return got.want(want)
}

// quarryExchangeBatch does the same by query.
type quarryExchangeBatch struct {
	*quarryExchange
	add, remove *ecs.Change
	err         error
}

func buildQuarryExchangeBatch(n int) (trial, error) {
	s, err := newQuarryExchange(n)
	if err != nil {
		return nil, err
	}
	return &quarryExchangeBatch{quarryExchange: s,
		add: ecs.NewChange(s.w, ecs.Add(s.b)), remove: ecs.NewChange(s.w, ecs.Remove(s.b))}, nil
}

func (s *quarryExchangeBatch) pass(times int) {
	for range times {
		s.note(s.add.ApplyQuery(s.still))
		s.note(s.remove.ApplyQuery(s.both))
	}
}

// note keeps the first error, or an error for a batch without all entities.
func (s *quarryExchangeBatch) note(b ecs.Batch, err error) {
	if err == nil {
		err = wantCount("entities changed", b.Len(), s.n)
	}
	if s.err == nil {
		s.err = err
	}
}

func (s *quarryExchangeBatch) check(passes int) error {
	if s.err != nil {
		return s.err
	}
	return s.quarryExchange.check(passes)
}
