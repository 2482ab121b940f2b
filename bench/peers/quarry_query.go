package main

import (
	"quarry/asm"
	"quarry/ecs"
	"quarry/layout"
)

// quarryQuery moves everything that has Position and Velocity.
type quarryQuery struct {
	quarryWorld
	q *ecs.Query
	n int
}

// buildQuarryQuery makes a world and calls fill to fill it.
func buildQuarryQuery(fill func(*quarryWorld, int) error) func(int) (trial, error) {
	return func(n int) (trial, error) { return newQuarryQuery(n, fill) }
}

func newQuarryQuery(n int, fill func(*quarryWorld, int) error) (*quarryQuery, error) {
	w, err := openQuarry()
	if err != nil {
		return nil, err
	}
	s := &quarryQuery{quarryWorld: w, n: n}
	s.q = ecs.NewQuery(s.w, ecs.Write(s.position), ecs.Read(s.velocity))
	return s, fill(&s.quarryWorld, n)
}

// quarryPlain makes 10n entities that do not match, and n that do.
func quarryPlain(s *quarryWorld, n int) error {
	if _, err := ecs.NewArchetype(s.w, s.position).CreateN(10 * n); err != nil {
		return err
	}
	return s.fill(n)
}

// quarrySpread makes n movers over 2^bits archetypes and, with noise, 4n entities
// without Velocity over 2^noise.
func quarrySpread(bits, noise int) func(*quarryWorld, int) error {
	return func(s *quarryWorld, n int) error {
		if noise > 0 {
			for i := range 4 * n {
				ecs.NewArchetype(s.w, s.with(i&(1<<noise-1), s.position)...).Create()
			}
		}
		for i := range n {
			e := ecs.NewArchetype(s.w, s.with(i&(1<<bits-1), s.position, s.velocity)...).Create()
			s.velocity.Set(e, velocityOf(i))
		}
		return nil
	}
}

func (s *quarryQuery) pass(times int) {
	q, position, velocity := s.q, s.position, s.velocity
	for range times {
		for rows := range q.Rows() {
			p, v := position.Slice(rows), velocity.Slice(rows)
			v = v[:len(p)]
			for i := range p {
				p[i].X += v[i].X
				p[i].Y += v[i].Y
			}
		}
	}
}

func (s *quarryQuery) check(passes int) error { return s.tally(true).want(moved(s.n, passes)) }

// quarryFlat is quarryQuery with the vector kernel on flat columns.
type quarryFlat struct{ *quarryQuery }

func buildQuarryKernel(fill func(*quarryWorld, int) error) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s, err := newQuarryQuery(n, fill)
		return quarryFlat{s}, err
	}
}

func (s quarryFlat) pass(times int) {
	q, position, velocity := s.q, s.position, s.velocity
	for range times {
		for rows := range q.Rows() {
			asm.Add(layout.Flat[float64](position.Slice(rows)), layout.Flat[float64](velocity.Slice(rows)))
		}
	}
}

// quarryRandom looks entities up in shuffled order.
type quarryRandom struct {
	quarryWorld
	list []ecs.Entity
	sum  float64
}

func buildQuarryRandom(n int) (trial, error) { return newQuarryRandom(n) }

func newQuarryRandom(n int) (*quarryRandom, error) { return newQuarrySample(n, n) }

// newQuarrySample looks up k entities of n.
func newQuarrySample(n, k int) (*quarryRandom, error) {
	w, err := openQuarry()
	if err != nil {
		return nil, err
	}
	s := &quarryRandom{quarryWorld: w, list: make([]ecs.Entity, 0, k)}
	a := ecs.NewArchetype(s.w, s.position)
	for isIn := range sample(n, k) {
		if e := a.Create(); isIn {
			s.position.Set(e, placeOf(len(s.list)))
			s.list = append(s.list, e)
		}
	}
	shuffle(s.list)
	return s, nil
}

func (s *quarryRandom) handled() int { return len(s.list) }

func (s *quarryRandom) pass(times int) {
	sum, position := 0.0, s.position
	for range times {
		for _, e := range s.list {
			sum += position.Get(e).X
		}
	}
	s.sum += sum
}

func (s *quarryRandom) check(passes int) error { return wantSum(s.sum, len(s.list), passes) }
