package job_test

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"quarry/ecs"
	"quarry/ecs/command"
	"quarry/ecs/job"

	"github.com/stretchr/testify/require"
)

// TestListAgainstALoop: a flight over a list does what a loop over the list does, entities that are
// listed twice, are dead or do not match included, for any number of workers; and what its bodies
// record is played in one order.
func TestListAgainstALoop(t *testing.T) {
	want := uint64(0)
	for _, k := range []int{1, 2, 4, 8} {
		w := newWorld(t)
		list := w.fill(t, 5000)
		awake, err := ecs.NewArchetype(w.World, w.count, w.awake).CreateN(3000)
		require.NoError(t, err)
		list = awake.Entities(list)
		other, err := ecs.NewArchetype(w.World, w.position).CreateN(100)
		require.NoError(t, err)
		all := other.Entities(list)
		s := w.schedule(t, k)
		cb := command.NewBuffer(w.World)
		jobs := []*job.Job{
			s.For(ecs.NewQuery(w.World, ecs.Write(w.count))).Named("all"),
			s.For(ecs.NewQuery(w.World, ecs.Write(w.count), ecs.With(w.awake))).Named("awake"),
		}
		model := map[ecs.Entity]int64{}
		r := rand.New(rand.NewPCG(3, 4))
		for round := range 20 {
			var listed []ecs.Entity
			for range r.IntN(2000) {
				listed = append(listed, all[r.IntN(len(all))])
				if r.IntN(4) == 0 {
					listed = append(listed, listed[r.IntN(len(listed))], ecs.Null)
				}
			}
			for i, e := range listed {
				if w.count.Has(e) && (round%2 == 0 || w.awake.Enabled(e)) {
					model[e] = model[e]*3 + int64(i)
				}
			}
			h := jobs[round%2].List(listed, func(c *job.Ctx, rows ecs.Rows, places []job.Listed) {
				n, last := w.count.Slice(rows), -1
				for _, l := range places {
					if rows.Entities()[l.Row] != listed[l.Index] || l.Index <= last {
						t.Errorf("place %+v after %d", l, last)
					}
					last = l.Index
					n[l.Row].N = n[l.Row].N*3 + int64(l.Index)
					if l.Index%50 == 0 {
						cb.Parallel(c).Destroy(listed[l.Index])
					}
				}
			})
			require.NoError(t, h.Complete(), "round %d", round)
			for e, n := range model {
				require.Equal(t, n, w.count.Get(e).N)
			}
			require.NoError(t, cb.Play())
			for e := range model {
				if !w.Alive(e) {
					delete(model, e)
				}
			}
			for range 50 {
				w.awake.Disable(all[r.IntN(len(all))]) // if it has it
			}
		}
		cb.Close()
		require.NoError(t, s.Close())
		if k == 1 {
			want = w.Hash()
		}
		require.Equal(t, want, w.Hash(), "%d workers", k)
	}
}

// TestListOfNothing: lists without an entity that matches run nothing, and are complete.
func TestListOfNothing(t *testing.T) {
	w := newWorld(t)
	list := w.fill(t, 10)
	s := w.schedule(t, 2)
	j := s.For(ecs.NewQuery(w.World, ecs.Write(w.target)))
	var calls atomic.Int32
	body := func(*job.Ctx, ecs.Rows, []job.Listed) { calls.Add(1) }
	for _, l := range [][]ecs.Entity{nil, {ecs.Null}, list} {
		require.NoError(t, j.List(l, body).Complete())
	}
	require.Zero(t, calls.Load())
	require.NoError(t, j.Run(nothing), "the job goes over rows too")
}

// TestListReduces: partials have one value for each chunk of the list, in the list's order.
func TestListReduces(t *testing.T) {
	for _, k := range []int{1, 3} {
		w := newWorld(t)
		list := w.fill(t, 3*w.chunk)
		s := w.schedule(t, k)
		p := job.NewPartials[[]int]()
		j := s.For(ecs.NewQuery(w.World, ecs.Read(w.count))).Reduces(p)
		listed := []ecs.Entity{list[2*w.chunk], list[0], list[1], list[2*w.chunk+5], list[0]}
		require.NoError(t, j.List(listed, func(c *job.Ctx, _ ecs.Rows, places []job.Listed) {
			for _, l := range places {
				*p.At(c) = append(*p.At(c), l.Index)
			}
		}).Complete())
		got := p.Fold(nil, func(a, b []int) []int { return append(a, b...) })
		require.Equal(t, []int{0, 3, 1, 2, 4}, got)
	}
}

func TestListMisuse(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	list := w.fill(t, 10)
	s := w.schedule(t, 2)
	q := ecs.NewQuery(w.World, ecs.Write(w.count))
	j := s.For(q).Named("strike")
	body := func(*job.Ctx, ecs.Rows, []job.Listed) {}
	buffer := command.NewBuffer(w.World)
	defer buffer.Close()
	recorded := buffer.Create(w.all)
	refuses(t, func() { j.List(list, nil) }, "job: Job.List: the body of job strike is nil")
	refuses(t, func() { j.List(append(list, other.fill(t, 1)...), body) },
		"job: Job.List: job strike: list[10] = ", " is a placeholder or belongs to another world")
	refuses(t, func() { j.List([]ecs.Entity{recorded}, body) }, "job: Job.List: job strike: list[0] = ")
	require.True(t, w.count.Set(list[0], Count{1}), "nothing is lent")
	require.NoError(t, j.List(list, body).Complete())
	refuses(t, func() { s.For(q).Named("n").Indexed().List(list, body) }, "job: Job.List: job n is Indexed")
	refuses(t, func() { s.For(q).Named("u").Uses(ecs.Write(w.target)).List(list, body) }, "Exclusive")
	refuses(t, func() { (*job.Job)(nil).List(list, body) }, "the job is nil or the zero value")
	fail := func(*job.Ctx, ecs.Rows, []job.Listed) { panic("no") }
	require.ErrorIs(t, j.List(list, fail).Complete(), job.ErrPanic)
	require.NoError(t, j.List(list, body).Complete())
}
