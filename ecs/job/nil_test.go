package job_test

import (
	"context"
	"testing"

	"quarry/ecs"
	"quarry/ecs/job"
	"quarry/internal/lint"

	"github.com/stretchr/testify/require"
)

var noContext context.Context

// TestNil calls whatever takes a pointer, a function or an interface with nil.
func TestNil(t *testing.T) {
	w := newWorld(t)
	q := ecs.NewQuery(w.World, ecs.Write(w.position), ecs.Read(w.velocity))
	panics, returns := lint.NilPanics, lint.NilReturns
	lint.CheckNil(t,
		panics("NewScheduler: world", "job: NewScheduler: ", func() { job.NewScheduler(nil) }),
		panics("NewScheduler: option", "job: NewScheduler: ", func() { job.NewScheduler(w.World, nil) }),
		panics("NewScheduler: second option", "job: NewScheduler: ",
			func() { job.NewScheduler(w.World, job.Workers(2), nil) }),
		panics("Each1", "job: Each1: ", func() { job.Each1(w.position, nil) }),
		panics("Each2", "job: Each2: ", func() { job.Each2(w.position, w.velocity, nil) }),
		panics("Partials.At", "job: Partials.At: ", func() { job.NewPartials[int]().At(nil) }),
		panics("Partials.Fold", "job: Partials.Fold: ", func() { job.NewPartials[int]().Fold(0, nil) }),
		panics("Scheduler.For", "job: Scheduler.For: ",
			func() { withJob(w, q, func(s *job.Scheduler, _ *job.Job) { s.For(nil) }) }),
		returns("Scheduler.Label", func(t *testing.T) {
			withJob(w, q, func(s *job.Scheduler, j *job.Job) {
				s.Label(noContext)
				require.NoError(t, j.Run(nothing))
			})
		}),
		panics("Job.Parallel", "job: Job.Parallel: ",
			func() { withJob(w, q, func(_ *job.Scheduler, j *job.Job) { j.Parallel(nil) }) }),
		panics("Job.Schedule", "job: Job.Schedule: ",
			func() { withJob(w, q, func(_ *job.Scheduler, j *job.Job) { j.Schedule(nil) }) }),
		panics("Job.List", "job: Job.List: ",
			func() { withJob(w, q, func(_ *job.Scheduler, j *job.Job) { j.List(nil, nil) }) }),
		returns("Job.List: list", func(t *testing.T) {
			withJob(w, q, func(_ *job.Scheduler, j *job.Job) {
				require.NoError(t, j.List(nil, func(*job.Ctx, ecs.Rows, []job.Listed) {}).Complete())
			})
		}),
		panics("Job.Run", "job: Job.Run: ",
			func() { withJob(w, q, func(_ *job.Scheduler, j *job.Job) { _ = j.Run(nil) }) }),
		panics("Job.Reduces", "job: Job.Reduces: ",
			func() { withJob(w, q, func(_ *job.Scheduler, j *job.Job) { j.Reduces(nil) }) }),
		panics("Job.Reduces: pointer", "job: Job.Reduces: ", func() {
			withJob(w, q, func(_ *job.Scheduler, j *job.Job) { j.Reduces((*job.Partials[int])(nil)) })
		}),
	)
	withJob(w, q, func(_ *job.Scheduler, j *job.Job) { require.NoError(t, j.Run(nothing)) })
}

// withJob calls f with a scheduler and a job of its own.
func withJob(w *world, q *ecs.Query, f func(s *job.Scheduler, j *job.Job)) {
	s := job.NewScheduler(w.World, job.Workers(2))
	defer s.Close()
	f(s, s.For(q))
}
