package transform

import (
	"quarry/ecs"
	"quarry/ecs/hierarchy"
	"quarry/ecs/job"
)

// Levels in jobs. A level is computed when the one above it is, so each is a flight of a job over
// all rows, which computes those of the level and passes over the others:
//
//	order     2 0 1 | 4 3          position of the node of each row, chunk after chunk
//	level 1   positions 1 and 2    a body computes the rows whose position is one of them
//
// Bodies write rows of their own and read those of the level above, by slices that the owner took
// before. Small levels are computed by the owner, for a flight takes a microsecond and wakes
// workers.

// parallelFrom is the number of nodes from which on a level is computed in a job.
const parallelFrom = 2048

// pass is the level that the job is to compute.
type pass struct {
	job    *job.Job // nil: the owner computes all
	body   func(*job.Ctx, ecs.Rows)
	order  []int32 // position of the node of each row, in the order of the query; -1: it has none
	lo, hi int32   // positions of the level
}

// Parallel makes Update compute levels of many nodes on the workers of a scheduler of the same
// world; nil ends that, and is called before the scheduler is closed. The matrices are the same, to
// the bit. Update then panics in bodies of jobs, and while jobs use Local, Post or LocalToWorld, as
// loops over rows do.
func (t *Transforms) Parallel(s *job.Scheduler) {
	if t.pass.job = nil; s != nil {
		t.pass.job, t.pass.body = s.For(t.levels.Query()).Indexed().Named("transforms"), t.computeRows
	}
}

// computeLevels computes the marked matrices, level by level.
func (t *Transforms) computeLevels() {
	if len(t.pass.order) == 0 {
		t.arrange()
	}
	for n := range t.levels.Len() {
		lo, hi := t.levels.Level(n)
		if hi-lo < parallelFrom {
			t.compute(lo, hi)
			continue
		}
		t.pass.lo, t.pass.hi = int32(lo), int32(hi)
		if err := t.pass.job.Parallel(t.pass.body).Complete(); err != nil {
			panic(err) // a defect: no code of the program runs in it
		}
	}
}

// computeRows is the body of the job.
func (t *Transforms) computeRows(c *job.Ctx, rows ecs.Rows) {
	first := c.Index()
	nodes, parents := t.levels.Nodes(), t.levels.Parents()
	order := t.pass.order[first : first+rows.Len()]
	for i := 0; i < len(order); i++ {
		p := order[i]
		if !t.wanted(p) {
			continue
		}
		n := int32(1)
		for i+1 < len(order) && order[i+1] == p+n && t.wanted(p+n) && parents[p+n] == parents[p] {
			n++
			i++
		}
		up := hierarchy.Place{Chunk: -1}
		if parents[p] >= 0 {
			up = nodes[parents[p]]
		}
		t.computeRun(nodes[p], int(n), up)
	}
}

// wanted reports whether the job is to compute the node at a position, which may be -1.
func (t *Transforms) wanted(p int32) bool {
	return t.pass.lo <= p && p < t.pass.hi && t.dirty[p>>6]>>(p&63)&1 != 0
}

// arrange notes the position of the node of each row.
func (t *Transforms) arrange() {
	starts, n := make([]int, len(t.chunks)), 0
	for i := range t.chunks {
		starts[i] = n
		n += len(t.chunks[i].global)
	}
	order := t.pass.order[:0]
	for range n {
		order = append(order, -1)
	}
	for p, at := range t.levels.Nodes() {
		order[starts[at.Chunk]+int(at.Row)] = int32(p)
	}
	t.pass.order = order
}
