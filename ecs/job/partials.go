package job

import (
	"fmt"
	"slices"
)

// Partials are one T for each part of a job: what its bodies find out, put together in the order of
// the rows. So the result of Fold is the same, to the bit, for any number of workers.
type Partials[T any] struct {
	job    *Job
	values []T
}

// Reduction is a Partials of whatever type; only this package implements it.
type Reduction interface {
	bind(j *Job)
	reset(parts int)
}

// NewPartials makes partials for one job, see Job.Reduces. Each flight begins with the zero values.
// T may hold pointers.
func NewPartials[T any]() *Partials[T] { return &Partials[T]{} }

func (p *Partials[T]) bind(j *Job) {
	if p == nil {
		panic("job: Job.Reduces: the partials are nil; they come from NewPartials")
	}
	if p.job != nil {
		panic(fmt.Sprintf("job: Job.Reduces: the partials are those of job %s; make others for job %s", p.job.name, j.name))
	}
	p.job = j
}

func (p *Partials[T]) reset(parts int) {
	p.values = slices.Grow(p.values[:0], parts)[:parts]
	clear(p.values)
}

// At returns the partial of the rows that a body was called with.
func (p *Partials[T]) At(c *Ctx) *T {
	if c == nil {
		panic("job: Partials.At: the context is nil; bodies of jobs have one")
	}
	if p.job != c.job {
		panic(fmt.Sprintf("job: Partials.At: the partials are not those of job %s: give them to its Reduces", c.job.name))
	}
	return &p.values[c.ordinal]
}

// Fold puts the partials of the last flight together, in the order of the rows: f(... f(f(start,
// first), second) ..., last). It panics while the flight is not completed. What bodies did not come
// to, because one failed, is zero.
func (p *Partials[T]) Fold(start T, f func(sum, next T) T) T {
	if f == nil {
		panic("job: Partials.Fold: the function is nil")
	}
	if p.job != nil && p.job.out {
		panic(fmt.Sprintf("job: Partials.Fold: job %s is in flight; complete it first", p.job.name))
	}
	for _, v := range p.values {
		start = f(start, v)
	}
	return start
}
