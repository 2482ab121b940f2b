package job

import (
	"fmt"

	"quarry/ecs"
)

// Ctx is what a body knows beside its rows. It is good until the body returns, on the
// goroutine that the body was called on.
type Ctx struct {
	job      *Job
	accessor *ecs.Accessor
	worker   int
	ordinal  int
	part     ecs.RowRange
	walked   int // rows, since the worker entered the flight
}

// seat is a worker's Ctx of a job, on cache lines of its own.
type seat struct {
	ctx Ctx
	_   [64]byte
}

// Worker returns the number of the worker that the body runs on, from 0 to
// Scheduler.Workers() - 1; 0 is the goroutine of the caller. No two bodies run on one at once.
func (c *Ctx) Worker() int { return c.worker }

// Flight returns the number of the flight among all of the scheduler, from 1, in the order of
// scheduling. With Ordinal it orders what bodies record, as in a command.Buffer: command.Batch is
// implemented by Ctx.
func (c *Ctx) Flight() uint64 { return c.job.number }

// Ordinal returns the number of the first of the parts that the body was called for. It
// rises with the rows and is the same for any number of workers; so are the parts of a job that
// Reduces, while other jobs get as many adjacent ones at once as time allows. It is -1 when no
// body is under way.
func (c *Ctx) Ordinal() int { return c.ordinal }

// Row returns where the first of the rows is in its chunk: a multiple of 64.
func (c *Ctx) Row() int { return c.part.Row() }

// Index returns how many rows match before the first of these, in the order of Query.Rows.
// The job must be Indexed.
func (c *Ctx) Index() int {
	if !c.job.indexed {
		panic(fmt.Sprintf("job: Ctx.Index: job %s does not count its rows: make it with Indexed", c.job.name))
	}
	return c.job.starts[c.ordinal]
}

// Accessor returns what look-ups of the job's Uses are made of: health.Lookup(c.Accessor()).
func (c *Ctx) Accessor() *ecs.Accessor { return c.accessor }

// Alive is World.Alive.
func (c *Ctx) Alive(e ecs.Entity) bool { return c.job.s.w.Alive(e) }

// walk calls the body for the parts [lo, hi), where a part or several adjacent ones have a
// row that matches.
func (c *Ctx) walk(lo, hi int) {
	j := c.job
	for i := lo; i < hi && !j.failed.Load(); {
		part := j.parts[i]
		c.ordinal = i
		i++
		for joins := len(j.partials) == 0; joins && i < hi; {
			var both ecs.RowRange
			if both, joins = part.Joins(j.parts[i]); joins {
				part = both
				i++
			}
		}
		c.part = part
		c.walked += part.Len()
		if rows, ok := c.accessor.Rows(part); ok {
			j.body(c, rows)
		}
	}
}

// count finds how many rows match before each part. No body of the flight runs yet.
func (c *Ctx) count() {
	j := c.job
	j.starts = j.starts[:0]
	n := 0
	for _, part := range j.parts {
		j.starts = append(j.starts, n)
		if rows, ok := c.accessor.Rows(part); ok {
			n += rows.Count()
		}
	}
}
