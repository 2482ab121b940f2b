package job

import (
	"context"
	"runtime/pprof"
	"runtime/trace"
)

// Labels attribute the time of a goroutine to a piece of work, in profiles and traces. A flight has
// the labels that the owner had when it was scheduled. So bodies count as work of the code that
// scheduled them, on any goroutine. Labels are set once for each worker that enters a flight.

// Label sets the pprof labels of ctx on the caller's goroutine, and on the bodies of all jobs
// scheduled from now on, so that profiles show on whose behalf they ran. While runtime/trace is on,
// each stay of a worker in such a job is a region named after the job, in the task of ctx. After
// the caller has taken part in jobs with other labels, its own labels are restored.
//
// With nil, as initially, labels are left alone: jobs scheduled from now on run on the caller under
// whatever labels its goroutine has, and on workers without labels. Cost: about 15 ns for each
// worker that enters a job. Only a trace allocates.
func (s *Scheduler) Label(ctx context.Context) {
	s.enter("Scheduler.Label")
	s.labels = ctx
	if ctx != nil {
		pprof.SetGoroutineLabels(ctx)
	}
}

// label sets the labels of a flight that the worker has entered, and begins its trace region.
func (k *worker) label(ctx context.Context, name string) *trace.Region {
	if k.id > 0 || k.s.labels != nil {
		pprof.SetGoroutineLabels(ctx)
	}
	return trace.StartRegion(ctx, name)
}

// unlabel undoes label. Worker 0 is the owner and gets the scheduler's own labels back.
func (k *worker) unlabel(region *trace.Region) {
	region.End()
	if k.id > 0 {
		pprof.SetGoroutineLabels(context.Background())
	} else if own := k.s.labels; own != nil {
		pprof.SetGoroutineLabels(own)
	}
}
