package job_test

import (
	"sync/atomic"
	"testing"

	"quarry/ecs"
	"quarry/ecs/job"

	"github.com/stretchr/testify/require"
)

// Weight is a value per chunk.
type Weight struct{ Rows, X int64 }

// TestChunkValuesInJobs: a job that writes a chunk type has each chunk whole, so its bodies sum up
// chunks on any number of workers; a job that reads it has parts of chunks as any job.
func TestChunkValuesInJobs(t *testing.T) {
	w := newWorld(t)
	weight := ecs.RegisterChunk[Weight](w.World)
	a := ecs.NewArchetype(w.World, w.position, weight)
	batch, err := a.CreateN(50_000)
	require.NoError(t, err)
	for i, e := range batch.Entities(nil) {
		w.position.Set(e, Position{X: float64(i % 7)})
	}
	chunks := a.Chunks()
	require.Greater(t, chunks, 1)
	s := w.schedule(t, 4)
	sum := s.For(ecs.NewQuery(w.World, ecs.Read(w.position), ecs.Write(weight))).Named("sum")
	read := s.For(ecs.NewQuery(w.World, ecs.Read(weight), ecs.Optional(ecs.Read(w.velocity)))).Named("read")
	changed := ecs.NewQuery(w.World, ecs.With(weight), ecs.Changed(weight))
	for round := range int64(3) {
		since := w.Advance() - 1
		var bodies, parts atomic.Int64
		require.NoError(t, sum.Parallel(func(c *job.Ctx, rows ecs.Rows) {
			bodies.Add(1)
			v := weight.At(rows)
			v.Rows += int64(rows.Len())
			for _, p := range w.position.Slice(rows) {
				v.X += int64(p.X)
			}
		}).Complete())
		require.Equal(t, int64(chunks), bodies.Load())
		changed.SetSince(since)
		require.Equal(t, 50_000, changed.Count())
		require.NoError(t, read.Parallel(func(c *job.Ctx, rows ecs.Rows) {
			parts.Add(1)
			if v := weight.At(rows); v.Rows < (round+1)*int64(rows.Len()) {
				t.Errorf("%+v for %d rows", *v, rows.Len())
			}
		}).Complete())
		require.Positive(t, parts.Load())
	}
	total, x := int64(0), int64(0)
	for rows := range ecs.NewQuery(w.World, ecs.Read(weight)).Rows() {
		v := weight.At(rows)
		require.Equal(t, int64(3*rows.Len()), v.Rows)
		total, x = total+v.Rows, x+v.X
	}
	require.Equal(t, int64(150_000), total)
	want := int64(0)
	for i := range 50_000 {
		want += int64(i % 7)
	}
	require.Equal(t, 3*want, x)
	handle := sum.Schedule(func(c *job.Ctx, rows ecs.Rows) { weight.At(rows).Rows = 0 })
	e := batchFirst(w, weight)
	require.PanicsWithValue(t,
		"ecs: Chunk.Get: chunk Weight is lent to job sum, which writes it: complete it first; inside it use its rows",
		func() { weight.Get(e) })
	require.NoError(t, handle.Complete())
	require.Zero(t, weight.Get(e).Rows)
}

// batchFirst returns an entity with a type, without a look at values.
func batchFirst(w *world, t ecs.Type) ecs.Entity {
	return ecs.NewQuery(w.World, ecs.With(t)).At(0)
}

// TestBetweenInJobs: jobs by a range see the rows of the owner's loop, also where they write the
// field, whether bounds are known or not, and whatever the version.
func TestBetweenInJobs(t *testing.T) {
	w := newWorld(t)
	batch, err := ecs.NewArchetype(w.World, w.position).CreateN(50_000)
	require.NoError(t, err)
	ids := batch.Entities(nil)
	for i, e := range ids {
		w.position.Set(e, Position{X: float64(i)})
	}
	axis := ecs.NewRange(w.position, func(p *Position) *float64 { return &p.X }, 0, 0)
	s := w.schedule(t, 4)
	chunks := ecs.NewQuery(w.World, ecs.Read(w.position), axis.Term())
	masked := ecs.NewQuery(w.World, ecs.Write(w.position), axis.Term().Masked())
	find := s.For(chunks).Named("find")
	raise := s.For(masked).Named("raise")
	for round := range 20 {
		lo := float64(round * 1000)
		axis.Set(lo, lo+99)
		if round%3 == 0 {
			require.Equal(t, 100, masked.Count())
		}
		var shown, found atomic.Int64
		require.NoError(t, find.Parallel(func(c *job.Ctx, rows ecs.Rows) {
			shown.Add(int64(rows.Len()))
			for _, p := range w.position.Slice(rows) {
				if p.X >= lo && p.X <= lo+99 {
					found.Add(1)
				}
			}
		}).Complete())
		require.Equal(t, int64(100), found.Load())
		require.Less(t, shown.Load(), int64(25_000))
		var raised atomic.Int64
		first := raise.Schedule(func(c *job.Ctx, rows ecs.Rows) {
			for i := range rows.Each() {
				w.position.Slice(rows)[i].X += 100_000
				raised.Add(1)
			}
		})
		again := find.Schedule(func(c *job.Ctx, rows ecs.Rows) {
			for _, p := range w.position.Slice(rows) {
				if p.X >= lo && p.X <= lo+99 {
					t.Errorf("%v was to be raised before", p)
				}
			}
		})
		require.NoError(t, first.Complete())
		require.NoError(t, again.Complete())
		require.Equal(t, int64(100), raised.Load())
		require.True(t, masked.Empty())
		axis.Set(lo+100_000, lo+100_099)
		require.Equal(t, 100, masked.Count())
	}
	require.NoError(t, w.Verify())
}
