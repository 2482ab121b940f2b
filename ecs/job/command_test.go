package job_test

import (
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/command"
	"quarry/ecs/job"

	"github.com/stretchr/testify/require"
)

// What bodies record is played in the order of the rows, so the world has one hash for any
// number of workers, ids of new entities included.
func TestCommandsFromBodies(t *testing.T) {
	var want uint64
	for _, k := range []int{1, 2, 4, 8, 16} {
		got := recorded(t, k)
		if k == 1 {
			want = got
		}
		require.Equal(t, want, got, "%d workers", k)
	}
}

func recorded(t *testing.T, workers int) uint64 {
	t.Helper()
	w := newWorld(t)
	w.fill(t, 3000)
	s := w.schedule(t, workers)
	cb := command.NewBuffer(w.World)
	defer cb.Close()
	left := s.For(ecs.NewQuery(w.World, ecs.Read(w.velocity), ecs.Without(w.target))).Named("left")
	heavy := s.For(ecs.NewQuery(w.World, ecs.Read(w.position), ecs.Read(w.count))).Named("heavy")
	for round := range 3 {
		left.Parallel(func(c *job.Ctx, rows ecs.Rows) {
			out := cb.Parallel(c)
			for i, v := range w.velocity.Slice(rows) {
				if v.X < 0 {
					child := out.Create(w.all)
					command.Set(out, child, w.position, Position{X: v.Y})
					command.Set(out, child, w.velocity, Velocity{v.Y, v.X})
					command.Put(out, rows.Entities()[i], w.target, Target{child})
				}
			}
		})
		heavy.Parallel(func(c *job.Ctx, rows ecs.Rows) {
			out := cb.Parallel(c)
			for i, p := range w.position.Slice(rows) {
				if p.X > 0.9 {
					out.Destroy(rows.Entities()[i])
				}
			}
		})
		if round > 0 { // Play completes them, too
			require.NoError(t, s.Complete())
			require.NotZero(t, cb.Len())
		}
		before := w.Stats()
		require.NoError(t, cb.Play())
		require.NotEqual(t, before.Created, w.Stats().Created)
	}
	require.NoError(t, s.Close())
	return w.Hash()
}

// TestWriterOfTwoJobs keeps the writer of a job's part and uses it in another job, and in a
// later flight and part of its own: that is a panic, with what to do.
func TestWriterOfTwoJobs(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 200)
	s := w.schedule(t, 1)
	cb := command.NewBuffer(w.World)
	defer cb.Close()
	var kept *command.Writer
	first := s.For(ecs.NewQuery(w.World, ecs.Read(w.position))).Named("first")
	second := s.For(ecs.NewQuery(w.World)).Named("second")
	take := func(c *job.Ctx, rows ecs.Rows) {
		if kept == nil {
			kept = cb.Parallel(c)
			kept.Destroy(rows.Entities()[0])
		}
	}
	use := func(_ *job.Ctx, rows ecs.Rows) { kept.Destroy(rows.Entities()[0]) }
	require.NoError(t, first.Run(take))
	for _, err := range []error{second.Run(use), first.Run(use)} {
		require.ErrorContains(t, err, "the writer's part has ended")
	}
	require.Panics(t, func() { kept.Key(1) })
	require.NoError(t, cb.Play())
}

// A buffer is not cleared, sealed or closed under a job that records: the job is completed first.
// In a body these panic by name, and so does Play.
func TestBufferWaitsForJobs(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 500)
	s := w.schedule(t, 2)
	l := command.NewLender(w.World)
	cb := l.Lend()
	j := s.For(ecs.NewQuery(w.World, ecs.Read(w.position))).Named("recording")
	for name, f := range map[string]func(){"Buffer.Clear": cb.Clear, "Lender.Close": l.Close, "Buffer.Play": func() {
		_ = cb.Play()
	},
		"Lender.Seal": func() { l.Seal("void") }} {
		for _, worker := range []bool{false, true} {
			text := inBody(t, s, j, worker, func(*job.Ctx, ecs.Rows) { f() })
			require.Contains(t, text, "job: "+name+": structural change inside a body of job recording")
		}
	}
	refuses(t, func() {
		for range ecs.NewQuery(w.World, ecs.Read(w.position)).Rows() {
			_ = cb.Play()
		}
	}, "ecs: Buffer.Play: ", "loop")
	seal := func() {
		l.Seal("void")
		l.Lend()
	}
	for _, f := range []func(){cb.Clear, seal, l.Close} {
		began := make(chan bool, 100)
		j.Parallel(func(c *job.Ctx, rows ecs.Rows) {
			began <- true
			time.Sleep(5 * time.Millisecond) // the owner is at f by then
			cb.Parallel(c).DestroyList(rows.Entities())
		})
		<-began
		f()
		require.Zero(t, cb.Len())
		require.NoError(t, s.Complete())
		require.Zero(t, cb.Len(), "nothing was recorded after")
	}
	require.Zero(t, cb.Bytes())
}

// A Ctx that is kept longer than its body gives no writer.
func TestKeptCtxRecordsNothing(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 500)
	s := w.schedule(t, 1)
	cb := command.NewBuffer(w.World)
	defer cb.Close()
	var kept *job.Ctx
	j := s.For(ecs.NewQuery(w.World, ecs.Read(w.position)))
	require.NoError(t, j.Run(func(c *job.Ctx, rows ecs.Rows) { kept = c }))
	refuses(t, func() { cb.Parallel(kept) }, "command: Buffer.Parallel: ", "has ended")
	require.Zero(t, cb.Len())
}
