package job

import (
	"fmt"
	"slices"
)

// Partials holds one T for each part of a job. Bodies store their results in them, and Fold
// combines the results in the order of the rows. So the result of Fold is the same, to the bit, for
// any number of workers.
type Partials[T any] struct {
	job    *Job
	values []T
}

// Reduction is a Partials of any type. Only this package implements it.
type Reduction interface {
	bind(j *Job)
	reset(parts int)
}

// NewPartials returns partials for one job; see Job.Reduces. They are zero at the start of each
// flight. T may hold pointers.
func NewPartials[T any]() *Partials[T] { return &Partials[T]{} }

func (p *Partials[T]) bind(j *Job) {
	if p == nil {
		panic("job: Job.Reduces: the partials are nil; they come from NewPartials")
	}
	if p.job != nil {
		panic(fmt.Sprintf("job: Job.Reduces: the partials are those of job %s; make others for job %s",
			p.job.name, j.name))
	}
	p.job = j
}

func (p *Partials[T]) reset(parts int) {
	p.values = slices.Grow(p.values[:0], parts)[:parts]
	clear(p.values)
}

// At returns the partial for the rows that a body was called with. It panics if c is nil or of
// another job.
func (p *Partials[T]) At(c *Ctx) *T {
	if c == nil {
		panic("job: Partials.At: the context is nil; bodies of jobs have one")
	}
	if p.job != c.job {
		panic(fmt.Sprintf("job: Partials.At: the partials are not those of job %s: give them to its Reduces",
			c.job.name))
	}
	return &p.values[c.ordinal]
}

// Fold combines the partials of the last flight in the order of the rows: f(... f(f(start, first),
// second) ..., last). Parts that were not run, because a body failed, contribute the zero value.
// Before the first flight the result is start. Fold panics while the flight is not completed.
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
