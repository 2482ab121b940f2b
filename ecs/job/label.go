package job

import (
	"context"
	"runtime/pprof"
	"runtime/trace"
)

// Labels say for which work a goroutine runs, in profiles and traces. A flight has the labels that
// the owner had when it was scheduled, so bodies count as work of the code that scheduled them, on
// whatever goroutine they run. They are set once for each worker that enters a flight.

// Label gives the goroutine of the caller the pprof labels of ctx, and the bodies of all jobs that
// are scheduled from now on: profiles show for whom they ran. While runtime/trace is on, a worker's
// stay in such a job is a region of its own, named by the job, in the task of ctx. After the caller
// took part in jobs of others it gets the labels back.
//
// With nil, labels are left alone, as at first: jobs scheduled from now on run under those that the
// goroutine has, workers have none, and the caller's are no longer changed. Cost: some 15 ns for
// each worker that enters a job; nothing is allocated but by a trace.
func (s *Scheduler) Label(ctx context.Context) {
	s.enter("Scheduler.Label")
	s.labels = ctx
	if ctx != nil {
		pprof.SetGoroutineLabels(ctx)
	}
}

// label gives the goroutine the labels of a flight that it has entered, and begins the region.
func (k *worker) label(ctx context.Context, name string) *trace.Region {
	if k.id > 0 || k.s.labels != nil {
		pprof.SetGoroutineLabels(ctx)
	}
	return trace.StartRegion(ctx, name)
}

// unlabel undoes label. The scheduler's own labels belong to the owner, which worker 0 is.
func (k *worker) unlabel(region *trace.Region) {
	region.End()
	if k.id > 0 {
		pprof.SetGoroutineLabels(context.Background())
	} else if own := k.s.labels; own != nil {
		pprof.SetGoroutineLabels(own)
	}
}
