package job_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/job"

	"github.com/stretchr/testify/require"
)

// Any number of workers sees every row of any number of entities once.
func TestBehaviour69EveryRowOnce(t *testing.T) {
	w := newWorld(t)
	q := ecs.NewQuery(w.World, ecs.Write(w.count))
	r := w.chunk
	for _, n := range []int{0, 1, 2, 5, 10, 63, 64, 65, 100, r - 1, r, r + 1, 2*r - 1, 2*r + 1, 5*r - 1, 5 * r, 5*r + 1,
		16*r - 1, 16*r + 1} {
		w.Clear()
		w.fill(t, n)
		want := make([]int64, n)
		for k := 1; k <= 16; k++ {
			s := w.schedule(t, k)
			count(t, w, s.For(q).Named("parallel"), n, (*job.Job).Parallel)
			count(t, w, s.For(q).Named("single"), n, (*job.Job).Schedule)
			require.NoError(t, s.Close())
			for i := range want {
				want[i] += 2
			}
			require.Equal(t, want, w.counts(q), "%d workers, %d entities", k, n)
		}
	}
}

// count adds one to each row's Count, and checks the arguments of bodies.
func count(t *testing.T, w *world, j *job.Job, n int, schedule func(*job.Job, func(*job.Ctx, ecs.Rows)) job.Handle) {
	var mu sync.Mutex
	at := map[int]int{} // ordinal: index
	j.Indexed()
	require.NoError(t, schedule(j, func(c *job.Ctx, rows ecs.Rows) {
		for i := range w.count.Slice(rows) {
			w.count.Slice(rows)[i].N++
		}
		mu.Lock()
		defer mu.Unlock()
		if _, twice := at[c.Ordinal()]; twice || c.Index() < 0 || c.Row()%64 != 0 || c.Index()%w.chunk != c.Row() {
			panic(fmt.Sprintf("ordinal %d, index %d, row %d", c.Ordinal(), c.Index(), c.Row()))
		}
		at[c.Ordinal()] = c.Index()
		at[-1] += rows.Len()
	}).Complete())
	require.Equal(t, n, at[-1])
	delete(at, -1)
	ordinals := make([]int, 0, len(at))
	for o := range at {
		ordinals = append(ordinals, o)
	}
	slices.Sort(ordinals)
	for i, o := range ordinals[:max(0, len(ordinals)-1)] {
		require.Less(t, at[o], at[ordinals[i+1]], "indices rise with ordinals")
	}
}

// Several workers take part in one job.
func TestWorkersTakePart(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 4000)
	q := ecs.NewQuery(w.World, ecs.Write(w.count))
	for _, k := range []int{2, 3, 8} {
		s := w.schedule(t, k)
		for _, j := range []*job.Job{s.For(q), s.For(q).Indexed()} {
			m := meeting{n: int32(k)}
			var seen [8]atomic.Bool
			require.NoError(t, j.Parallel(func(c *job.Ctx, rows ecs.Rows) {
				if !seen[c.Worker()].Swap(true) && !m.wait() {
					panic("the other workers do not come")
				}
			}).Complete())
			for i := range k {
				require.True(t, seen[i].Load(), "worker %d of %d", i, k)
			}
		}
		require.NoError(t, s.Close())
	}
}

// The rows of filtered queries, by enable bits and by versions.
func TestFilteredRows(t *testing.T) {
	w := newWorld(t)
	a := ecs.NewArchetype(w.World, w.count, w.awake)
	const n = 3000
	b, err := a.CreateN(n)
	require.NoError(t, err)
	for i, e := range b.Entities(nil) {
		if i%3 != 0 {
			w.awake.Disable(e)
		}
	}
	q := ecs.NewQuery(w.World, ecs.Write(w.count), ecs.Read(w.awake))
	changed := ecs.NewQuery(w.World, ecs.Read(w.count), ecs.Changed(w.count))
	s := w.schedule(t, 4)
	number := s.For(q).Named("number").Indexed()
	var rows atomic.Int64
	look := s.For(changed).Named("look")
	looks := func(c *job.Ctx, r ecs.Rows) { rows.Add(int64(r.Count())) }
	require.NoError(t, look.Parallel(looks).Complete())
	require.EqualValues(t, n, rows.Load(), "what was made is new")
	rows.Store(0)
	require.NoError(t, look.Parallel(looks).Complete())
	require.Zero(t, rows.Load(), "nothing changed")
	h := number.Parallel(func(c *job.Ctx, rows ecs.Rows) {
		index := c.Index()
		for i := range rows.Each() {
			w.count.Slice(rows)[i].N = int64(index) + 1
			index++
		}
	})
	look.Parallel(looks) // sees what number, which it waits for, has changed
	require.NoError(t, s.Complete())
	require.True(t, h.Done())
	require.EqualValues(t, n, rows.Load())
	i, index := 0, int64(0)
	for r := range ecs.NewQuery(w.World, ecs.Read(w.count), ecs.Present(w.awake)).Rows() {
		for _, c := range w.count.Slice(r) {
			want := int64(0)
			if i%3 == 0 {
				index++
				want = index
			}
			require.Equal(t, want, c.N, "row %d", i)
			i++
		}
	}
}

// Parts depend on the number of rows only.
func TestGrain(t *testing.T) {
	for rows, want := range map[int]int{
		0: 64, 1: 64, 64 * 128: 64, 64*128 + 1: 128, 100_000: 832, 4096 * 128: 4096, 10_000_000: 4096,
	} {
		require.Equal(t, want, job.GrainOf(rows), rows)
	}
}

// Bodies of one entity.
func TestEach(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 1000)
	_, err := ecs.NewArchetype(w.World, w.count).CreateN(100)
	require.NoError(t, err)
	s := w.schedule(t, 3)
	q := ecs.NewQuery(w.World, ecs.Write(w.count), ecs.Optional(ecs.Read(w.position)))
	var without atomic.Int64
	one := job.Each1(w.count, func(c *job.Ctx, row int, n *Count) { n.N = 7 })
	two := job.Each2(w.count, w.position, func(c *job.Ctx, row int, n *Count, p *Position) {
		n.N++
		if p == nil {
			without.Add(1)
		}
	})
	s.For(q).Parallel(one)
	require.NoError(t, s.For(q).Parallel(two).Complete())
	require.Equal(t, slices.Repeat([]int64{8}, 1100), w.counts(q))
	require.EqualValues(t, 100, without.Load())
}

// TestAloneTakesWholeChunks: while no other worker is awake, the caller runs a job that is not
// worth waking one over whole chunks, with the ordinals of their first parts, as a scheduler of one
// worker does.
func TestAloneTakesWholeChunks(t *testing.T) {
	w := newWorld(t)
	q := ecs.NewQuery(w.World, ecs.Write(w.count))
	n := 2*w.chunk + 100
	w.fill(t, n)
	var seen [2][][2]int // ordinals, and rows
	for i, workers := range []int{1, 4} {
		s := w.schedule(t, workers, job.Inline(time.Hour))
		for end := time.Now().Add(20 * time.Second); s.Parked() < workers-1; time.Sleep(10 * time.Microsecond) {
			require.True(t, time.Now().Before(end), "the workers do not park")
		}
		for range 3 {
			seen[i] = nil
			require.NoError(t, s.For(q).Parallel(func(c *job.Ctx, rows ecs.Rows) {
				seen[i] = append(seen[i], [2]int{c.Ordinal(), rows.Len()})
			}).Complete())
		}
		require.NoError(t, s.Close())
	}
	require.Equal(t, seen[0], seen[1])
	var rows []int
	for _, s := range seen[1] {
		rows = append(rows, s[1])
	}
	var chunks []int
	for r := range q.Rows() {
		chunks = append(chunks, r.Len())
	}
	require.Equal(t, chunks, rows)
}
