package job_test

import (
	"math/rand/v2"
	"testing"

	"quarry/ecs"
	"quarry/ecs/job"

	"github.com/stretchr/testify/require"
)

// Streams of jobs that read and write at random, in all ways of running, with structural
// changes between, leave the world that running one after the other leaves.
func TestStreams(t *testing.T) {
	w := newWorld(t)
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	for seed := range uint64(4) {
		var want []float64
		for i, k := range []int{1, 1, 2, 3, 4, 8, 16} {
			w.Clear()
			got := stream(t, w, seed, k, rounds, i == 0)
			if i == 0 {
				want = got
			}
			require.Equal(t, want, got, "seed %d, %d workers", seed, k)
		}
	}
}

// column is a type of a stream: what jobs do is to add to one what they find in another.
type column struct {
	t   ecs.Type
	add func(rows ecs.Rows, from []float64)
	get func(rows ecs.Rows, to []float64) []float64
}

func (w *world) columns() []column {
	return []column{
		{w.position, func(rows ecs.Rows, from []float64) {
			for i := range from {
				p := &w.position.Slice(rows)[i]
				p.X = p.X*0.9 + from[i]*0.3 + 1
			}
		}, func(rows ecs.Rows, to []float64) []float64 {
			for _, p := range w.position.Slice(rows) {
				to = append(to, p.X)
			}
			return to
		}},
		{w.velocity, func(rows ecs.Rows, from []float64) {
			for i := range from {
				v := &w.velocity.Slice(rows)[i]
				v.X = v.X*0.8 - from[i]*0.2 + 2
			}
		}, func(rows ecs.Rows, to []float64) []float64 {
			for _, v := range w.velocity.Slice(rows) {
				to = append(to, v.X)
			}
			return to
		}},
		{w.count, func(rows ecs.Rows, from []float64) {
			for i := range from {
				n := &w.count.Slice(rows)[i]
				n.N = n.N*3 + int64(from[i]*100)
			}
		}, func(rows ecs.Rows, to []float64) []float64 {
			for _, n := range w.count.Slice(rows) {
				to = append(to, float64(n.N%1000))
			}
			return to
		}},
	}
}

// stream runs a stream and returns all columns. alone completes each job at once.
func stream(t *testing.T, w *world, seed uint64, workers, rounds int, alone bool) (all []float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 9))
	s := w.schedule(t, workers)
	cs := w.columns()
	type pair struct {
		j    *job.Job
		body func(*job.Ctx, ecs.Rows)
	}
	var jobs []pair
	for i := range cs {
		for k := range cs {
			if i == k {
				continue
			}
			to, from := cs[i], cs[k]
			q := ecs.NewQuery(w.World, ecs.Write(to.t), ecs.Read(from.t))
			defer q.Close()
			scratch := make([][]float64, workers)
			jobs = append(jobs, pair{s.For(q), func(c *job.Ctx, rows ecs.Rows) {
				scratch[c.Worker()] = from.get(rows, scratch[c.Worker()][:0])
				to.add(rows, scratch[c.Worker()])
			}})
		}
	}
	var last job.Handle
	for range rounds {
		p := jobs[r.IntN(len(jobs))]
		if r.IntN(4) == 0 {
			p.j.After(last)
		}
		switch way := r.IntN(8); way {
		case 0:
			require.NoError(t, p.j.Run(p.body))
		case 1, 2:
			last = p.j.Schedule(p.body)
		default:
			last = p.j.Parallel(p.body)
		}
		switch r.IntN(12) {
		case 0:
			w.fill(t, 1+r.IntN(700))
		case 1:
			require.NoError(t, last.Complete())
		case 2:
			last = job.Combine(last, last)
		}
		if alone {
			require.NoError(t, s.Complete())
		}
	}
	require.NoError(t, s.Close())
	for rows := range ecs.NewQuery(w.World, ecs.Read(w.position), ecs.Read(w.velocity), ecs.Read(w.count)).Rows() {
		for _, c := range cs {
			all = c.get(rows, all)
		}
	}
	return all
}
