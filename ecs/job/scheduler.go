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
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/query"
	"quarry/internal/debug"
)

// The scheduler.
//
// A scheduled job is in flight until the owner completes it. First it waits for the flights that it
// depends on. Then it is ready, and workers claim and run its parts. It is finished when all parts
// are done. Its borrow ends when the owner completes it:
//
//	             owner                 last of those before it        last worker leaves
//	idle --- schedule ---> waiting --------- ready ----------> running ---------> finished
//	  ^      borrow.Begin  blockers > 0      in Scheduler.ready  running > 0          |
//	  +------------------------------- complete: borrow.End -------------------------+
//
// There are two kinds of state. State that only the owner touches (flights, out, before, and the
// parts while nothing runs) needs no lock. State that workers touch too is guarded by mu, except
// for claims (flight.next), which are one compare-and-swap each, and the atomics that are read
// without it (failed, finished, changes, busy, inside). A worker that enters a flight is counted
// under mu. So a flight is never taken down under a worker, and the next flight of the same Job
// begins only after the last worker has left.
//
// Parts are cut by the number of rows and their chunks only, so parts and their ordinals are the
// same for any number of workers. How many parts a worker claims at once depends on time: a claim
// should take about 30 us, so that claiming costs nothing and the last worker does not delay the
// others for long. While no other worker is awake, the caller of Complete claims all parts at once.
//
// Workers look for work for 50 us and then park. Waking a worker costs the waker some microseconds,
// and the worker starts up to 70 us later. So only work estimated to take longer than Inline wakes
// workers. All other work is run by a worker that is awake, or at the latest by the owner in
// Complete.
//
// The structs Job, flight, Handle and worker are at the end of this file, since they need each
// other. What they do:
//
//	what a job declares, and how it is scheduled    job.go, body.go, partials.go
//	how rows become parts, and what they cost       flight.go; of a list of entities list.go
//	how parts are claimed and run                   worker.go, panic.go, label.go
//	what the owner waits for                        handle.go
//	what a body is given                            ctx.go
//
// Invariants, cited where they are kept:
//
//	J1 A flight is ready only when all flights before it that it depends on have finished.
//	   Of two that conflict, the one scheduled first comes before.
//	J2 Each part is claimed once, by a compare-and-swap of next, and parts never move.
//	J3 A flight finishes once, when no part is left to claim and no worker is in it.
//	J4 A worker that enters a flight leaves it, also after a panic or runtime.Goexit.
//	J5 Bodies run between Begin and End of their job's borrow. Only the owner calls these.
//	J6 The owner waits only for flights that another worker runs. If no worker runs a flight
//	   that the owner needs, the owner runs it. So one worker is enough, and the owner never
//	   waits for a worker that was not woken.
//	J7 Ordinals rise with the rows, and a worker's claims rise. So sorting by ordinal gives the
//	   order of Query.Rows, or of a list.

// Scheduler runs jobs over the rows of one world on persistent workers. Its methods, and the
// methods of its Jobs and Handles, are for the world's owner, outside of bodies.
type Scheduler struct {
	w       *ecs.World
	inline  time.Duration
	workers []worker // 0 is the caller, which has no goroutine of its own
	exited  sync.WaitGroup
	yield   func() // in tests: called between claims

	flights []*Job          // in flight, in the order of scheduling
	chosen  []*Job          // flights that the call under way waits for; kept for reuse
	round   uint64          // number of the call under way, which the flights have that it chose
	serial  uint64          // number of the last flight scheduled
	labels  context.Context // of the owner and of flights to come; nil if left alone
	errs    []error
	closed  bool

	mu       sync.Mutex
	work     sync.Cond // parked workers
	back     sync.Cond // the owner, where it waits
	ready    []*Job    // unblocked; parts may be left; in the order of becoming ready
	backlog  int64     // estimated ns of the ready work
	parked   int
	signals  int // workers to wake when mu is unlocked
	waiting  bool
	stopping bool
	changes  atomic.Uint32 // counts changes that the owner may wait for
	busy     atomic.Int32  // goroutines of workers that are inside a flight
	inside   atomic.Bool   // the caller is inside a body
}

// Option changes how NewScheduler works.
type Option func(*Scheduler)

// Workers returns an option that sets the number of goroutines that run jobs, including the caller
// of Complete: 1 to 1,024, runtime.GOMAXPROCS(0) by default. With one, jobs run in Complete.
// Workers panics outside of that range.
func Workers(n int) Option {
	if n < 1 || n > mostWorkers {
		panic(fmt.Sprintf("job: Workers(%d): from 1 to %d", n, mostWorkers))
	}
	return func(s *Scheduler) { s.workers = make([]worker, n) }
}

const mostWorkers = 1024

// Inline returns an option that sets how long work must be before a parked worker is woken for it,
// as estimated from the job's last flights. Shorter work is left to workers that are awake and to
// Complete. The default is 50 us, about the time it takes to wake a worker; 0 wakes workers for all
// work. Inline panics if d is negative.
func Inline(d time.Duration) Option {
	if d < 0 {
		panic(fmt.Sprintf("job: Inline(%v): it must not be negative", d))
	}
	return func(s *Scheduler) { s.inline = d }
}

const (
	defaultInline = 50 * time.Microsecond
	mostErrors    = 64 // errors kept for the next Complete
)

// schedulers maps each world to its scheduler: two for one world would not see each other's jobs.
var schedulers = struct {
	sync.Mutex
	of map[*ecs.World]*Scheduler
}{of: map[*ecs.World]*Scheduler{}}

// NewScheduler starts the workers of a world. They run until Close. NewScheduler panics if the
// world is nil or closed, or has a scheduler that is not closed.
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

// InBody reports whether the caller is inside the body of a job, where state of the owner must not
// be touched. It detects bodies on the owner's goroutine, and in debug builds those on workers. The
// debug check costs some microseconds while jobs run.
func (s *Scheduler) InBody() bool {
	return s.inside.Load() || debug.On && s.busy.Load() > 0 && s.current() != nil
}

// Workers returns the number of goroutines that run jobs, including the caller of Complete.
func (s *Scheduler) Workers() int { return len(s.workers) }

// Complete runs and waits for all jobs in flight, and ends their borrows. The error joins the
// *PanicError of every failed job not yet reported.
func (s *Scheduler) Complete() error { return s.complete("Scheduler.Complete") }

func (s *Scheduler) complete(op string) error {
	s.enter(op)
	s.completeAll()
	return s.takeErrors()
}

// CompleteFor completes the flights whose access conflicts with a, and everything they depend on,
// like Handle.Complete. Afterwards the owner may use what a reads and writes. CompleteFor does
// nothing if no flight conflicts. It allocates nothing.
func (s *Scheduler) CompleteFor(a ecs.Access) error {
	s.enter("Scheduler.CompleteFor")
	if len(s.flights) > 0 {
		s.newRound()
		for _, j := range s.flights {
			if door.Conflicts(&j.access, &a) {
				s.choose(Handle{j: j, number: j.number})
			}
		}
		s.completeChosen()
	}
	return s.takeErrors()
}

// Close completes all jobs in flight and stops the workers. It returns the error of Complete. A
// second call does nothing. From then on For, Label, and every method that configures, schedules or
// completes jobs panic.
func (s *Scheduler) Close() error {
	if s != nil && s.closed {
		return nil
	}
	err := s.complete("Scheduler.Close")
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

// String lists the jobs in flight, each with its parts and the flights that it waits for, finished
// or not. A flight that one of these waits for is left out.
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

// enter panics if op may not be called now.
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

// refuseWorker panics if it runs on a worker's goroutine. It costs some microseconds.
func (s *Scheduler) refuseWorker(op string) {
	if k := s.current(); k != nil {
		panic(fmt.Sprintf("job: %s: inside a body of job %s; bodies neither schedule nor complete", op, k.job.name))
	}
}

// structural is called by the world before a structural change while borrows of this scheduler are
// out, on the goroutine that makes the change.
func (s *Scheduler) structural(op string) {
	if k := s.current(); k != nil {
		panic(
			fmt.Sprintf("job: %s: structural change inside a body of job %s; record it in a command buffer and play that back after Complete",
				op, k.job.name))
	}
	s.completeAll()
}

// completeAll completes all flights. Errors are kept for the next Complete.
func (s *Scheduler) completeAll() {
	s.newRound()
	for _, j := range s.flights {
		j.round = s.round
	}
	s.completeChosen()
}

// newRound begins a new choice of flights for the owner. A worker is refused here, before it
// touches state that the owner may be using.
func (s *Scheduler) newRound() {
	if s.busy.Load() > 0 {
		s.refuseWorker("Complete")
	}
	s.round++
}

// choose chooses a flight to be completed, and the flights it depends on.
func (s *Scheduler) choose(h Handle) {
	j := h.j
	if j == nil || j.number != h.number || !j.out || j.round == s.round {
		return
	}
	j.round = s.round
	for _, before := range j.before {
		s.choose(before)
	}
}

// completeChosen runs and waits for the chosen flights, and ends their borrows (J5).
func (s *Scheduler) completeChosen() {
	s.takePart()
	s.flights = slices.DeleteFunc(s.flights, func(j *Job) bool { return j.round == s.round })
	for _, j := range s.chosen {
		j.out = false
		if j.failure != nil && len(s.errs) < mostErrors {
			s.errs = append(s.errs, j.failure)
		}
		j.failure, j.body, j.listBody, j.labels = nil, nil, nil, nil
		j.borrow.End()
	}
}

// takeErrors returns and forgets the errors of the flights completed since its last call.
func (s *Scheduler) takeErrors() error {
	if len(s.errs) == 0 {
		return nil
	}
	err := errors.Join(s.errs...)
	s.errs = s.errs[:0]
	return err
}

// Job is work over the rows of a query. It is made once and scheduled any number of times, one
// flight at a time: scheduling it again first completes the former flight. Its methods are for the
// world's owner, outside of bodies.
type Job struct {
	s        *Scheduler
	query    *ecs.Query
	name     string
	uses     []ecs.Term
	writer   string // first term of uses that writes and was not declared by Exclusive
	indexed  bool
	partials []Reduction
	fixed    bool // scheduled before: its declarations no longer change

	borrow *ecs.Borrow
	access ecs.Access
	slots  []workerSlot // by worker
	after  []Handle     // of the next flight

	flight
}

// flight is one run of a job: the rows, the flights it waits for, and its progress. A Job has one
// flight at a time and reuses the memory for the next.
type flight struct {
	mode mode
	body func(*Ctx, ecs.Rows)
	// Of a list, else nil.
	listBody func(*Ctx, ecs.Rows, []Listed)
	split    query.ListSplit

	labels context.Context  // see Scheduler.Label; nil if none
	number uint64           // among all flights of the scheduler; 0 if never scheduled
	out    bool             // scheduled and not completed
	round  uint64           // Scheduler.round of the call that completes it
	before []Handle         // flights that it depends on, finished or not
	parts  []query.RowRange // in the order of Query.Rows
	starts []int            // of an Indexed job: matching rows before each part
	rows   int              // of all parts, matching or not
	batch  int              // most parts to claim at once
	worth  int64            // estimated ns; at least 1

	// Under Scheduler.mu.
	blockers   int    // flights of before that have not finished
	dependents []*Job // flights that count this one as a blocker
	running    int    // workers inside
	open       bool   // several workers may be inside
	listed     bool   // in Scheduler.ready
	failure    *PanicError
	cost       float64 // ns a row, over the flights so far; 0 if not known
	spent      int64   // ns, of the workers that left
	walked     int     // rows, of the workers that left

	next     atomic.Int64 // first part not claimed
	failed   atomic.Bool
	finished atomic.Bool
}

// Handle identifies one flight of a job, or several flights. The zero value behaves like a
// completed flight. Handles belong to the world's owner, like jobs.
type Handle struct {
	j      *Job // nil: the zero value, or a combination
	number uint64
	more   []Handle
}

// worker is one of the goroutines that run jobs. Worker 0 is the caller of Complete.
type worker struct {
	s            *Scheduler
	id           int
	job          *Job          // whose flight the worker is inside
	participants int           // workers that may take parts of that flight, this one included
	goroutine    atomic.Uint64 // number of its goroutine; 0 for the caller, or if not started yet
	_            [64]byte      // keeps workers off each other's cache lines
}
