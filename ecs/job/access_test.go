package job_test

import (
	"sync/atomic"
	"testing"

	"quarry/ecs"
	"quarry/ecs/job"

	"github.com/stretchr/testify/require"
)

// CompleteFor completes the flights that conflict with an access and those before them, and
// leaves the others in flight.
func TestCompleteFor(t *testing.T) {
	w := newWorld(t)
	e := w.fill(t, 500)[0]
	access := func(terms ...ecs.Term) ecs.Access { return ecs.NewQuery(w.World, terms...).Access() }
	for _, k := range []int{1, 2, 4} {
		s := w.schedule(t, k)
		steer := s.For(ecs.NewQuery(w.World, ecs.Write(w.velocity))).Named("steer")
		move := s.For(ecs.NewQuery(w.World, ecs.Write(w.position), ecs.Read(w.velocity))).Named("move")
		count := s.For(ecs.NewQuery(w.World, ecs.Read(w.count))).Named("count")
		var steered, moved atomic.Int64
		start := func() {
			steered.Store(0)
			moved.Store(0)
			count.Parallel(nothing)
			steer.Parallel(func(_ *job.Ctx, rows ecs.Rows) { steered.Add(int64(rows.Len())) })
			move.Parallel(func(_ *job.Ctx, rows ecs.Rows) { moved.Add(int64(rows.Len())) })
		}
		flies := func(jobs ...string) { require.Equal(t, jobs, s.Flying(), "%d workers", k) }
		start()
		require.NoError(t, s.CompleteFor(ecs.Access{}))
		require.NoError(t, s.CompleteFor(access(ecs.Read(w.count), ecs.Write(w.target))))
		flies("count", "steer", "move")
		require.NoError(t, s.CompleteFor(access(ecs.Read(w.position))))
		flies("count")
		require.Equal(t, []int64{500, 500}, []int64{steered.Load(), moved.Load()})
		require.NotNil(t, w.velocity.Mut(e), "steer comes before move")
		refuses(t, func() { w.count.Mut(e) }, "Count", "job count")
		require.NoError(t, s.CompleteFor(access(ecs.Write(w.count))))
		flies()
		require.NotNil(t, w.count.Mut(e))
		start()
		require.NoError(t, s.CompleteFor(access(ecs.Changed(w.velocity))))
		require.EqualValues(t, 500, steered.Load())
		flies("count", "move")
		require.NoError(t, s.Complete())
		require.NoError(t, s.CompleteFor(access(ecs.Write(w.count))), "nothing is in flight")
		require.NoError(t, s.Close())
	}
}

// CompleteFor returns what failed, once, also of flights that others completed.
func TestCompleteForReturnsErrors(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 10)
	s := w.schedule(t, 2)
	q := ecs.NewQuery(w.World, ecs.Write(w.count))
	j := s.For(q).Named("fails")
	fail := func(*job.Ctx, ecs.Rows) { panic("no") }
	j.Parallel(fail)
	err := s.CompleteFor(q.Access())
	require.ErrorIs(t, err, job.ErrPanic)
	require.ErrorContains(t, err, "fails")
	require.NoError(t, s.CompleteFor(q.Access()))
	j.Parallel(fail)
	w.all.Create() // completes it
	require.ErrorIs(t, s.CompleteFor(ecs.Access{}), job.ErrPanic)
	require.NoError(t, s.Complete())
}

func TestCompleteForAllocatesNothing(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 10)
	s := w.schedule(t, 1)
	q := ecs.NewQuery(w.World, ecs.Write(w.count))
	access, j := q.Access(), s.For(q)
	j.Parallel(nothing)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for range 2 { // the second time nothing is in flight
			if s.CompleteFor(access) != nil {
				t.Error("an error")
			}
		}
		j.Parallel(nothing)
	}))
}

// Access of a job is what its query and its uses declare, before the first flight and after.
func TestJobAccess(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 10)
	s := w.schedule(t, 1)
	q := ecs.NewQuery(w.World, ecs.Write(w.count), ecs.Read(w.velocity), ecs.With(w.awake))
	j := s.For(q).Named("aim").Uses(ecs.Read(w.position))
	require.Equal(t, j.Access(), j.Access())
	everything := ecs.NewQuery(w.World, ecs.Optional(ecs.Write(w.position), ecs.Write(w.velocity), ecs.Write(w.count),
		ecs.Write(w.awake), ecs.Write(w.target))).Access()
	require.Equal(t, []string{"Position", "Velocity", "Count", "Awake"}, w.Conflicts(j.Access(), everything))
	j.Exclusive(ecs.Write(w.target)) // reading the access does not make it too late to declare more
	require.Equal(t, []string{"Position", "Velocity", "Count", "Awake", "Target"}, w.Conflicts(j.Access(), everything))
	require.Equal(t, []string{"Count", "Target"}, w.Conflicts(j.Access(), j.Access()), "it writes")
	before := j.Access()
	require.NoError(t, j.Run(nothing))
	require.Equal(t, before, j.Access())
	refuses(t, func() { s.For(q).Uses(ecs.Write(w.count)).Access() }, "Count", "twice")
}

// Complete of a job completes its flight and no other.
func TestCompleteOfAJob(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 10)
	s := w.schedule(t, 1)
	one := s.For(ecs.NewQuery(w.World, ecs.Write(w.count))).Named("one")
	other := s.For(ecs.NewQuery(w.World, ecs.Write(w.velocity))).Named("other")
	require.NoError(t, one.Complete(), "it never flew")
	one.Parallel(func(*job.Ctx, ecs.Rows) { panic("no") })
	other.Parallel(nothing)
	require.ErrorContains(t, one.Complete(), "one")
	require.NotContains(t, s.String(), "one")
	require.Contains(t, s.String(), "other")
	require.NoError(t, one.Complete())
	require.NoError(t, s.Complete())
}

func TestAccessMisuse(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 500)
	s := w.schedule(t, 2)
	q := ecs.NewQuery(w.World, ecs.Write(w.count))
	j := s.For(q).Named("counting")
	zero := "the scheduler is nil or the zero value"
	refuses(t, func() { _ = (*job.Scheduler)(nil).CompleteFor(q.Access()) }, "job: Scheduler.CompleteFor", zero)
	refuses(t, func() { _ = new(job.Scheduler).CompleteFor(q.Access()) }, "job: Scheduler.CompleteFor", zero)
	refuses(t, func() { (*job.Job)(nil).Access() }, "job: Job.Access: the job is nil or the zero value")
	refuses(t, func() { _ = (*job.Job)(nil).Complete() }, "job: Job.Complete: the job is nil or the zero value")
	refuses(t, func() { new(job.Job).Access() }, "job: Job.Access: the job is nil or the zero value")
	for _, worker := range []bool{false, true} {
		text := inBody(t, s, j, worker, func(*job.Ctx, ecs.Rows) { _ = s.CompleteFor(q.Access()) })
		require.Contains(t, text, "inside a body", "on a worker: %v", worker)
	}
	require.NoError(t, s.Close())
	refuses(t, func() { _ = s.CompleteFor(q.Access()) }, "job: Scheduler.CompleteFor: the scheduler is closed")
	refuses(t, func() { j.Access() }, "job: Job.Access: the scheduler is closed")
	refuses(t, func() { _ = j.Complete() }, "job: Job.Complete: the scheduler is closed")
}
