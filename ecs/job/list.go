package job

import (
	"fmt"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/query"
)

// Flights over a list of entities. The list is cut by chunk (query.ListSplit), so all places of the
// list that are about one entity are in one part, which one worker runs, in the order of the list.
// Parts depend on the list and on where its entities lie, not on the workers. They are in the order
// in which the list comes to their chunks; so J7 holds for the order of the list, not of the rows.

// Listed is a place in the list of a flight: Row is the row of its entity in the rows of the call,
// Index the place in the list.
type Listed = query.Listed

// askParts is how many parts ahead values are asked for.
const askParts = 2

// List schedules a flight over the entities of a list, on several workers, as Parallel does over
// all rows. body is called with rows of one chunk, which begin with the chunk's first, and with the
// places of the list whose entities lie there, in the order of the list. An entity may be listed
// several times: all its places are in one call. So calls may write the rows of their entities, and
// the result is the same for any number of workers. body works on the listed rows alone: the rows
// between them may be others' as well. Slices mark what they show, as in all loops.
//
// Entities that are dead or do not match the query are left out. Ordinals, and the parts of a job
// that Reduces, number the chunks in the order in which the list comes to them. The list must stay
// as it is until the flight is complete.
//
// List panics as Parallel does, for an Indexed job, and for an entity of another world. Cost: some
// 30 ns an entity before the flight; it allocates nothing once lists were as long.
func (j *Job) List(list []ecs.Entity, body func(c *Ctx, rows ecs.Rows, listed []Listed)) Handle {
	if j != nil && j.indexed {
		panic(fmt.Sprintf("job: Job.List: job %s is Indexed, and a list has no such numbers: use Listed.Index", j.name))
	}
	return j.schedule("Job.List", parallel, work{listBody: body, list: list, ofList: true})
}

// work is what a flight runs, and over what.
type work struct {
	body     func(*Ctx, ecs.Rows)
	listBody func(*Ctx, ecs.Rows, []Listed)
	list     []ecs.Entity
	ofList   bool
}

// planList is plan for the entities of a list.
func (j *Job) planList(list []ecs.Entity) {
	f, cut := &j.flight, false
	defer func() {
		if !cut { // an entity of another world: nothing is lent then
			j.out, j.listBody = false, nil
			j.borrow.End()
		}
	}()
	if i := door.Borrow(j.borrow).SplitList(&f.split, "Job.List", door.IDs(list)); i >= 0 {
		panic(fmt.Sprintf("job: Job.List: job %s: list[%d] = %v is a placeholder or belongs to another world",
			j.name, i, list[i]))
	}
	cut = true
	f.parts, f.rows = append(f.parts[:0], f.split.Ranges...), len(f.split.Listed)
	f.estimate()
	for _, p := range j.partials {
		p.reset(len(f.parts))
	}
}

// walkList is walk for a list.
func (c *Ctx) walkList(lo, hi int) {
	j := c.job
	for i := lo; i < min(lo+askParts, hi); i++ {
		c.accessor.Ask(j.parts[i], j.split.Of(i))
	}
	for i := lo; i < hi && !j.failed.Load(); i++ {
		if next := i + askParts; next < hi {
			c.accessor.Ask(j.parts[next], j.split.Of(next))
		}
		c.ordinal, c.part = i, j.parts[i]
		listed := j.split.Of(i)
		c.walked += len(listed)
		rows, ok := c.accessor.Rows(c.part)
		if !ok {
			continue
		}
		if listed = rows.Matching(listed); len(listed) > 0 {
			j.listBody(c, door.Rows(rows), listed)
		}
	}
}
