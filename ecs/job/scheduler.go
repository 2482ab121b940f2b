package job

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"quarry/ecs"
	"quarry/internal/debug"
	"quarry/internal/seam"
)

// The scheduler.
//
// A job that was scheduled is in flight until the owner completes it. It waits for those in flight
// that it depends on, is ready, is run in parts by the workers that claim them, and is finished
// when all were; its borrow ends when the owner completes it:
//
//	             owner                 last of those before it        last worker leaves
//	idle --- schedule ---> waiting --------- ready ----------> running ---------> finished
//	  ^      borrow.Begin  blockers > 0      in Scheduler.ready  running > 0          |
//	  +------------------------------- complete: borrow.End -------------------------+
//
// Two kinds of state: what only the owner touches (flights, out, before, the parts while nothing
// runs) needs no lock; what workers touch too is under mu, but for the claims themselves
// (flight.next), one compare-and-swap each. A worker that enters a flight is counted under mu, so a
// flight is not taken down under it, and the next flight of the same Job begins only after the last
// has left.
//
// Parts are cut by the number of rows only, so they and their ordinals are the same for any number
// of workers. How many are claimed at once is a matter of time: a claim should take some 30 us, so
// that claims cost nothing and the last worker does not keep others waiting for long. The caller of
// Complete claims all at once while no other worker is awake.
//
// Workers look for work for 50 us and then park. To wake one costs the waker some microseconds and
// is felt up to 70 us later, so only work that is estimated longer than Inline wakes others; all
// else is run by a worker that is awake, at the latest by the owner in Complete.
//
// Invariants, cited where they are kept:
//
//	J1 A flight is ready only when all flights before it that it depends on have finished.
//	   Of two that conflict, the one scheduled first comes before.
//	J2 Each part is claimed once, by a compare-and-swap of next, and parts never move.
//	J3 A flight finishes once, when no part is left to claim and no worker is in it.
//	J4 Whoever enters a flight leaves it: after a panic and runtime.Goexit as well.
//	J5 Bodies run between Begin and End of their job's borrow. Only the owner calls these.
//	J6 The owner waits only for flights that others run: what it waits for and nobody runs, it
//	   runs. So one worker is enough, and nothing waits for a worker that was not woken.
//	J7 Ordinals rise with the rows, and a worker's claims rise: what is sorted by ordinal is in the
//	   order of Query.Rows.

// Scheduler runs jobs over the rows of one world on persistent workers. All its methods, and those
// of its Jobs and Handles, are for the world's owner, outside of bodies.
type Scheduler struct {
	w       *ecs.World
	inline  time.Duration
	workers []worker // 0 is the caller, which has no goroutine of its own
	exited  sync.WaitGroup
	yield   func() // in tests: called between claims

	flights []*Job          // in flight, in the order of scheduling
	wanted  []*Job          // those that the call under way waits for, kept for reuse
	mark    uint64          // of those
	serial  uint64          // of the flight scheduled last
	labels  context.Context // of the flights to come, and the owner's; nil: left alone
	errs    []error
	closed  bool

	mu       sync.Mutex
	work     sync.Cond // parked workers
	back     sync.Cond // the owner, where it waits
	ready    []*Job    // that may have parts to claim, in the order of becoming so
	backlog  int64     // ns that these were estimated to take
	parked   int
	signals  int // workers to wake when mu is unlocked
	waiting  bool
	stopping bool
	turns    atomic.Uint32 // changes that the owner may wait for
	busy     atomic.Int32  // goroutines of workers that are inside a flight
	inside   atomic.Bool   // the caller is
}

// Option changes how NewScheduler works.
type Option func(*Scheduler)

// Workers sets how many goroutines run jobs, 1 to 1,024, the caller of Complete among them;
// runtime.GOMAXPROCS(0) unless told otherwise. With one, jobs run in Complete.
func Workers(n int) Option {
	if n < 1 || n > mostWorkers {
		panic(fmt.Sprintf("job: Workers(%d): from 1 to %d", n, mostWorkers))
	}
	return func(s *Scheduler) { s.workers = make([]worker, n) }
}

const mostWorkers = 1024

// Inline sets how long work must be, as estimated from the job's last flights, before a parked
// worker is woken for it; shorter work is left to those that are awake and to Complete. 50 us
// unless told otherwise, about what it takes to wake one; 0 wakes for all.
func Inline(d time.Duration) Option {
	if d < 0 {
		panic(fmt.Sprintf("job: Inline(%v): it must not be negative", d))
	}
	return func(s *Scheduler) { s.inline = d }
}

const (
	defaultInline = 50 * time.Microsecond
	mostErrors    = 64 // kept for the next Complete
)

// schedulers says which worlds have one: two would not see each other's jobs.
var schedulers = struct {
	sync.Mutex
	of map[*ecs.World]*Scheduler
}{of: map[*ecs.World]*Scheduler{}}

// NewScheduler starts the workers of a world, until Close. It panics when the world is closed or
// has a scheduler that is not closed.
func NewScheduler(w *ecs.World, options ...Option) *Scheduler {
	switch {
	case w == nil:
		panic("job: NewScheduler: the world is nil")
	case w.Closed():
		panic("job: NewScheduler: the world is closed")
	}
	s := &Scheduler{w: w, inline: defaultInline}
	for _, o := range options {
		if o == nil {
			panic("job: NewScheduler: an option is nil")
		}
		o(s)
	}
	if s.workers == nil {
		s.workers = make([]worker, min(runtime.GOMAXPROCS(0), mostWorkers))
	}
	schedulers.Lock()
	defer schedulers.Unlock()
	if schedulers.of[w] != nil {
		panic("job: NewScheduler: the world has a scheduler already; close that one first")
	}
	schedulers.of[w] = s
	s.work.L, s.back.L = &s.mu, &s.mu
	for i := range s.workers {
		k := &s.workers[i]
		k.s, k.id = s, i
		if i > 0 {
			s.exited.Add(1)
			go k.loop()
		}
	}
	return s
}

// World returns the world whose rows the jobs run over.
func (s *Scheduler) World() *ecs.World { return s.w }

// Closed reports whether Close was called.
func (s *Scheduler) Closed() bool { return s.closed }

// InBody reports whether the caller is in the body of a job, where what belongs to the owner must
// not be touched: on the owner's goroutine, and in debug builds on those of workers, where it costs
// some microseconds while jobs run.
func (s *Scheduler) InBody() bool {
	return s.inside.Load() || debug.On && s.busy.Load() > 0 && s.current() != nil
}

// Workers returns how many goroutines run jobs, the caller among them.
func (s *Scheduler) Workers() int { return len(s.workers) }

// Complete runs and waits for all jobs in flight, and ends their borrows. The error joins the
// *PanicError of each job that failed since the last Complete of anything.
func (s *Scheduler) Complete() error {
	s.enter("Scheduler.Complete")
	s.completeAll()
	return s.takeErrors()
}

// CompleteFor completes the flights whose access conflicts with a, and all that they depend on, as
// Handle.Complete does: what a reads and writes is the owner's then. When nothing is in flight it
// does nothing. It allocates nothing.
func (s *Scheduler) CompleteFor(a ecs.Access) error {
	s.enter("Scheduler.CompleteFor")
	if len(s.flights) > 0 {
		s.turnMark()
		for _, j := range s.flights {
			if seam.Conflicts(&j.access, &a) {
				s.want(Handle{j: j, number: j.number})
			}
		}
		s.completeMarked()
	}
	return s.takeErrors()
}

// Close completes all jobs in flight and stops the workers. The error is Complete's. A second call
// does nothing; all else panics from then on.
func (s *Scheduler) Close() error {
	if s != nil && s.closed {
		return nil
	}
	err := s.Complete()
	s.closed = true
	s.mu.Lock()
	s.stopping = true
	s.work.Broadcast()
	s.mu.Unlock()
	s.exited.Wait()
	schedulers.Lock()
	defer schedulers.Unlock()
	delete(schedulers.of, s.w)
	return err
}

// String prints what is in flight: each job with its parts and the jobs that it waits for, whether
// or not these have finished, but for those that one of them waits for.
func (s *Scheduler) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-10s %7s %6s  %-16s %s\n", "job", "rows", "parts", "after", "access")
	for _, j := range s.flights {
		var names []string
		for _, h := range j.before {
			names = append(names, h.j.name)
		}
		fmt.Fprintf(&b, "%-10s %7d %6d  %-16s %v\n", j.name, j.rows, len(j.parts), strings.Join(names, ", "), j.terms())
	}
	return b.String()
}

// enter panics where op may not be called.
func (s *Scheduler) enter(op string) {
	switch {
	case s == nil || s.w == nil:
		panic("job: " + op + ": the scheduler is nil or the zero value; schedulers come from NewScheduler")
	case s.closed:
		panic("job: " + op + ": the scheduler is closed")
	case s.inside.Load():
		panic("job: " + op + ": inside a body; bodies neither schedule nor complete")
	}
	if debug.On && s.busy.Load() > 0 {
		s.refuseWorker(op)
	}
}

// refuseWorker panics on the goroutine of a worker. It costs some microseconds.
func (s *Scheduler) refuseWorker(op string) {
	if k := s.current(); k != nil {
		panic(fmt.Sprintf("job: %s: inside a body of job %s; bodies neither schedule nor complete", op, k.job.name))
	}
}

// structural is called by the world on a goroutine that makes a structural change while borrows of
// ours are out.
func (s *Scheduler) structural(op string) {
	if k := s.current(); k != nil {
		panic(fmt.Sprintf("job: %s: structural change inside a body of job %s; record it in a command buffer and play that back after Complete",
			op, k.job.name))
	}
	s.completeAll()
}

// completeAll completes all that is in flight. Errors are kept for the next Complete.
func (s *Scheduler) completeAll() {
	s.turnMark()
	for _, j := range s.flights {
		j.mark = s.mark
	}
	s.completeMarked()
}

// turnMark begins to mark anew, for the owner: a worker is refused before it has touched what the
// owner may be using.
func (s *Scheduler) turnMark() {
	if s.busy.Load() > 0 {
		s.refuseWorker("Complete")
	}
	s.mark++
}

// want marks a flight that is to be completed, and those before it.
func (s *Scheduler) want(h Handle) {
	j := h.j
	if j == nil || j.number != h.number || !j.out || j.mark == s.mark {
		return
	}
	j.mark = s.mark
	for _, before := range j.before {
		s.want(before)
	}
}

// completeMarked runs and waits for the flights that are marked, and ends their borrows (J5).
func (s *Scheduler) completeMarked() {
	s.takePart()
	s.flights = slices.DeleteFunc(s.flights, func(j *Job) bool { return j.mark == s.mark })
	for _, j := range s.wanted {
		j.out = false
		if j.failure != nil && len(s.errs) < mostErrors {
			s.errs = append(s.errs, j.failure)
		}
		j.failure, j.body, j.labels = nil, nil, nil
		j.borrow.End()
	}
}

// takeErrors returns the errors of the flights completed since it was called last.
func (s *Scheduler) takeErrors() error {
	if len(s.errs) == 0 {
		return nil
	}
	err := errors.Join(s.errs...)
	s.errs = s.errs[:0]
	return err
}
