package main

import (
	"errors"

	"quarry/asm"
	"quarry/ecs"
	"quarry/ecs/job"
	"quarry/layout"
)

// quarryFive adds three pairs of the columns of five components.
type quarryFive struct {
	quarryWorld
	c1 ecs.Component[C1]
	c2 ecs.Component[C2]
	c3 ecs.Component[C3]
	q  *ecs.Query
	n  int
}

func newQuarryFive(n int) (*quarryFive, error) {
	w, err := openQuarry()
	if err != nil {
		return nil, err
	}
	s := &quarryFive{quarryWorld: w, n: n}
	s.c1, s.c2, s.c3 = s.extra[0].(ecs.Component[C1]), s.extra[1].(ecs.Component[C2]), s.extra[2].(ecs.Component[C3])
	s.q = ecs.NewQuery(s.w, ecs.Write(s.position), ecs.Read(s.velocity), ecs.Write(s.c1), ecs.Read(s.c2),
		ecs.Write(s.c3))
	batch, err := ecs.NewArchetype(s.w, s.position, s.velocity, s.c1, s.c2, s.c3).CreateN(n)
	i := 0
	for rows := range batch.Rows() {
		v, c := s.velocity.Slice(rows), s.c2.Slice(rows)
		for k := range v {
			v[k], c[k] = velocityOf(i), secondOf(i)
			i++
		}
	}
	return s, err
}

// addFive is the loop of query5comp over columns.
//
//go:noinline
func addFive(p []Position, v []Velocity, c1 []C1, c2 []C2, c3 []C3) {
	v, c1, c2, c3 = v[:len(p)], c1[:len(p)], c2[:len(p)], c3[:len(p)]
	for i := range p {
		p[i].X += v[i].X
		p[i].Y += v[i].Y
		c1[i].X += c2[i].X
		c1[i].Y += c2[i].Y
		c3[i].X += v[i].X
		c3[i].Y += v[i].Y
	}
}

// addFiveKernel is addFive with the vector kernel.
func addFiveKernel(p []Position, v []Velocity, c1 []C1, c2 []C2, c3 []C3) {
	speed := layout.Flat[float64](v)
	asm.AddAll(
		asm.Pair[float64]{Dst: layout.Flat[float64](p), X: speed},
		asm.Pair[float64]{Dst: layout.Flat[float64](c1), X: layout.Flat[float64](c2)},
		asm.Pair[float64]{Dst: layout.Flat[float64](c3), X: speed},
	)
}

//go:noinline
func (s *quarryFive) pass(times int) {
	q := s.q
	for range times {
		for rows := range q.Rows() {
			addFive(s.position.Slice(rows), s.velocity.Slice(rows), s.c1.Slice(rows), s.c2.Slice(rows),
				s.c3.Slice(rows))
		}
	}
}

func (s *quarryFive) check(passes int) error {
	var got [3]tally
	for rows := range s.q.Rows() {
		p, c1, c3 := s.position.Slice(rows), s.c1.Slice(rows), s.c3.Slice(rows)
		for i := range p {
			got[0].add(&p[i])
			got[1].add((*Position)(&c1[i]))
			got[2].add((*Position)(&c3[i]))
		}
	}
	return wantFive(got, s.n, passes)
}

// quarryFiveKernel is quarryFive with the vector kernel.
type quarryFiveKernel struct{ *quarryFive }

func buildQuarryFiveKernel(n int) (trial, error) {
	s, err := newQuarryFive(n)
	return quarryFiveKernel{s}, err
}

//go:noinline
func (s quarryFiveKernel) pass(times int) {
	q := s.q
	for range times {
		for rows := range q.Rows() {
			addFiveKernel(s.position.Slice(rows), s.velocity.Slice(rows), s.c1.Slice(rows), s.c2.Slice(rows),
				s.c3.Slice(rows))
		}
	}
}

// quarryWorkers is position += velocity by a job on two workers.
type quarryWorkers struct {
	*quarryQuery
	jobs *job.Scheduler
	move *job.Job
	body func(*job.Ctx, ecs.Rows)
	err  error
}

func buildQuarryJobs(n int) (trial, error) {
	q, err := newQuarryQuery(n, (*quarryWorld).fill)
	if err != nil {
		return nil, err
	}
	s := &quarryWorkers{quarryQuery: q, jobs: job.NewScheduler(q.w, job.Workers(2))}
	s.move = s.jobs.For(q.q)
	s.body = func(_ *job.Ctx, rows ecs.Rows) { move(s.position.Slice(rows), s.velocity.Slice(rows)) }
	return s, nil
}

// move is the loop of query2comp over columns.
//
//go:noinline
func move(p []Position, v []Velocity) {
	v = v[:len(p)]
	for i := range p {
		p[i].X += v[i].X
		p[i].Y += v[i].Y
	}
}

func (s *quarryWorkers) pass(times int) {
	for range times {
		s.err = errors.Join(s.err, s.move.Parallel(s.body).Complete())
	}
}

func (s *quarryWorkers) check(passes int) error {
	if s.err != nil {
		return s.err
	}
	return s.quarryQuery.check(passes)
}

func (s *quarryWorkers) close() error { return errors.Join(s.jobs.Close(), s.quarryQuery.close()) }
