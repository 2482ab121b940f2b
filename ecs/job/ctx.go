package job

import (
	"fmt"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/query"
)

// Ctx is the context of one call of a body. It is valid until the body returns, on the goroutine
// that called the body.
type Ctx struct {
	job      *Job
	accessor *query.Accessor
	worker   int
	ordinal  int
	part     query.RowRange
	walked   int // rows since the worker entered the flight
}

// workerSlot is a worker's Ctx for a job, padded so that workers share no cache lines.
type workerSlot struct {
	ctx Ctx
	_   [64]byte
}

// Worker returns the number of the worker that runs the body, from 0 to Scheduler.Workers() - 1. 0
// is the goroutine that called Complete. No two bodies run on one worker at once, and each sees
// what the one before it wrote: memory per worker, such as an Arena, needs no lock.
func (c *Ctx) Worker() int { return c.worker }

// Flight returns the number of the flight, from 1, in the order in which the scheduler's flights
// were scheduled. Flight and Ordinal together order what bodies record; Ctx implements
// command.Part.
func (c *Ctx) Flight() uint64 { return c.job.number }

// Ordinal returns the number of the first part of this call. Parts are numbered in the order of the
// rows, the same for any number of workers. A call of a job that Reduces gets one part; other jobs
// get as many adjacent parts at once as time allows. Ordinal is -1 when no body is under way.
func (c *Ctx) Ordinal() int { return c.ordinal }

// Row returns the index in the chunk of the first row of this call, a multiple of 64.
func (c *Ctx) Row() int { return c.part.Row() }

// Index returns the number of matching rows before this call, in the order of Query.Rows. It panics
// unless the job is Indexed.
func (c *Ctx) Index() int {
	if !c.job.indexed {
		panic(fmt.Sprintf("job: Ctx.Index: job %s does not count its rows: make it with Indexed", c.job.name))
	}
	return c.job.starts[c.ordinal]
}

// Accessor returns the accessor from which a body makes look-ups of the types in Uses:
// health.Lookup(c.Accessor()).
func (c *Ctx) Accessor() *ecs.Accessor { return door.Accessor(c.accessor) }

// Alive reports whether e is alive, like World.Alive.
func (c *Ctx) Alive(e ecs.Entity) bool { return c.job.s.w.Alive(e) }

// Locate returns where e's values are, like World.Locate: the archetype, and the chunk and row in
// it; false if e is not alive. All of it holds until the job's flight ends. A body may ask the
// archetype for its types and its chunks (Archetype.Has, Components, Len, Chunks, Chunk).
func (c *Ctx) Locate(e ecs.Entity) (ecs.Location, bool) {
	c.accessor.Check("Ctx.Locate")
	return c.job.s.w.Locate(e)
}

// walk calls the body for the parts [lo, hi). It joins adjacent parts, unless the job Reduces, and
// skips ranges without a matching row.
func (c *Ctx) walk(lo, hi int) {
	j := c.job
	if j.listBody != nil {
		c.walkList(lo, hi)
		return
	}
	for i := lo; i < hi && !j.failed.Load(); {
		part := j.parts[i]
		c.ordinal = i
		i++
		for joins := len(j.partials) == 0; joins && i < hi; {
			var both query.RowRange
			if both, joins = part.Joins(j.parts[i]); joins {
				part = both
				i++
			}
		}
		c.part = part
		c.walked += part.Len()
		if rows, ok := c.accessor.Rows(part); ok {
			j.body(c, door.Rows(rows))
		}
	}
}

// count counts the matching rows before each part. No body of the flight runs yet.
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
