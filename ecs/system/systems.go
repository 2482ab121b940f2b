package system

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"quarry/ecs"
	"quarry/ecs/command"
	"quarry/ecs/job"
	"quarry/internal/clock"
	"quarry/internal/seam"
)

// The systems.
//
// Systems is a tree: groups, and what they update. All of it, on one goroutine, is
//
//	Systems.Update ---- the clock, once a frame
//	  Group.Update ---- order of its systems, sorted anew where it changed; its rate, perhaps several rounds
//	    State.turn ---- one system: requirements, Start or Stop, jobs it must wait for, Update, what failed
//	      Point.Update - a command point is a system that plays the buffers it handed out
//
// and the jobs that systems schedule run beside it on the workers of one scheduler, until somebody
// needs what they hold, at the latest until the frame ends.
//
// Invariants, cited where they are kept:
//
//	S1 One update at a time, by the world's owner, outside of loops over rows.
//	S2 Before a system updates, the jobs in flight that conflict with what it touches itself, and
//	   its own of an earlier round, are completed, and those that share a resource with it which one
//	   of the two may write, or that change what its requirements look at; no others. Jobs wait
//	   for each other by the scheduler's rules.
//	S3 Inside a group the order is: bucket, what Before and After say, order of adding. It
//	   is the same in every run with the same calls, unless Shuffle says otherwise.
//	S4 What a system writes has the version that LastVersion is afterwards, and what
//	   anybody writes later has a later one. So Changed shows a system neither its own writes
//	   nor anything twice, and it misses nothing, however long it did not run.
//	S5 What a system throws ends its turn, with its name, and nobody else's. The time, the
//	   labels and whose turn it is are as before.
//	S6 A buffer of a point records from State.Commands until the point's next update, which
//	   plays it. Each is played once, in the order in which they were asked for.
//	S7 What was created is destroyed once, the last first, after Stop if it was running.

// Systems are the systems of a world: groups, command points, the time, and the scheduler of their
// jobs. They belong to the world's owner.
type Systems struct {
	w        *ecs.World
	jobs     *job.Scheduler
	own      bool // jobs was made by New
	root     *Group
	defaults defaults
	states   []*State // in the order of creation
	named    map[string]*State
	known    map[System]*State // systems that are pointers, to find who is added twice
	created  uint64            // number of the state created last
	things   map[reflect.Type]*resource

	clock    func() time.Time
	ticked   time.Time // the clock at the last Update
	ticking  bool      // there was one
	maxDelta time.Duration
	frame    Time   // of the frame
	now      Time   // of the group whose round it is
	current  *State // whose turn it is

	options  []job.Option
	buffers  []command.Option
	log      *slog.Logger
	base     context.Context
	shuffled bool
	seed     uint64

	busy     atomic.Bool
	ending   bool // the goroutine is, by runtime.Goexit inside a system
	left     bool // a system left the world locked, and was named
	broken   bool // a system closed the world or the scheduler, and was named
	closed   bool
	errs     []error  // since they were returned last
	leaving  []*State // removed, and to be destroyed in this order
	warnings []string
}

// Option changes how New works.
type Option func(*Systems)

// Clock sets where Update takes the time from; unless told otherwise what time.Now would measure,
// but in fine steps on Windows too, where time.Now goes on every 15.6 ms.
func Clock(now func() time.Time) Option {
	if now == nil {
		panic("system: Clock: the function is nil")
	}
	return func(s *Systems) { s.clock = now }
}

// sinceStart is the clock of Update. Its date means nothing: Update takes differences.
func sinceStart() time.Time { return time.Time{}.Add(clock.Now()) }

// MaxDelta sets what a frame of Update takes at most, however late it comes; a third of a second
// unless told otherwise. It panics when d is not positive.
func MaxDelta(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("system: MaxDelta(%v): it must be positive", d))
	}
	return func(s *Systems) { s.maxDelta = d }
}

const defaultMaxDelta = time.Second / 3

// Jobs gives options to the scheduler that New makes.
func Jobs(options ...job.Option) Option {
	for _, o := range options {
		if o == nil {
			panic("system: Jobs: an option is nil")
		}
	}
	return func(s *Systems) { s.options = append(s.options, options...) }
}

// WithScheduler has jobs run by a scheduler of the same world that exists already. Close does not
// close it.
func WithScheduler(jobs *job.Scheduler) Option {
	if jobs == nil {
		panic("system: WithScheduler: the scheduler is nil")
	}
	return func(s *Systems) { s.jobs = jobs }
}

// Logger sets where warnings go; slog.Default() unless told otherwise.
func Logger(l *slog.Logger) Option {
	if l == nil {
		panic("system: Logger: the logger is nil; slog.DiscardHandler makes a silent one")
	}
	return func(s *Systems) { s.log = l }
}

// Shuffle has groups update systems whose order is not fixed in one drawn from the seed: a program
// that a test finds to depend on the seed lacks a Before or After.
func Shuffle(seed uint64) Option {
	return func(s *Systems) { s.shuffled, s.seed = true, seed }
}

// TraceCommands notes with each command the line that recorded it, see command.Trace.
func TraceCommands() Option {
	return func(s *Systems) { s.buffers = append(s.buffers, command.Trace) }
}

// Context sets the context whose profiler labels systems have beside their own, and which the
// goroutine has after an update; context.Background() unless told otherwise.
func Context(ctx context.Context) Option {
	if ctx == nil {
		panic("system: Context: the context is nil")
	}
	return func(s *Systems) { s.base = ctx }
}

// New makes the systems of a world: the default groups and command points, see the package. It
// panics when the world is closed, or has a job.Scheduler and none is given. Close comes before
// World.Close.
func New(w *ecs.World, options ...Option) *Systems {
	switch {
	case w == nil:
		panic("system: New: the world is nil")
	case w.Closed():
		panic("system: New: the world is closed")
	}
	s := &Systems{w: w, clock: sinceStart, maxDelta: defaultMaxDelta, base: context.Background(),
		named: map[string]*State{}, known: map[System]*State{}, things: map[reflect.Type]*resource{}}
	for _, o := range options {
		if o == nil {
			panic("system: New: an option is nil")
		}
		o(s)
	}
	switch {
	case s.jobs == nil:
		s.jobs, s.own = job.NewScheduler(w, s.options...), true
	case len(s.options) > 0:
		panic("system: New: Jobs and WithScheduler exclude each other: the scheduler exists already")
	case s.jobs.World() != w:
		panic("system: New: the scheduler is of another world")
	}
	s.addDefaults()
	return s
}

// World returns the world.
func (s *Systems) World() *ecs.World { return s.w }

// Scheduler returns the scheduler of the systems' jobs.
func (s *Systems) Scheduler() *job.Scheduler { return s.jobs }

// Time returns the time of the frame that is under way, or was last.
func (s *Systems) Time() Time { return s.frame }

// Add adds a system to the simulation group: see Group.Add.
func (s *Systems) Add(name string, sys System, orderings ...Ordering) *State {
	s.check("Systems.Add")
	return s.defaults.simulation.Add(name, sys, orderings...)
}

// TryAdd is Add, and returns what fails.
func (s *Systems) TryAdd(name string, sys System, orderings ...Ordering) (*State, error) {
	s.check("Systems.TryAdd")
	return s.defaults.simulation.TryAdd(name, sys, orderings...)
}

// Find returns the system of that name, or nil.
func (s *Systems) Find(name string) *State { return s.named[name] }

// Update runs a frame, by the clock: it takes what has passed since the last Update, MaxDelta at
// most, and nothing the first time. When it returns, all jobs are completed. The error joins what
// failed, a *PanicError, *command.PlayError or *job.PanicError each; the others ran. It panics
// inside an update, a loop over rows or a share, and when the world is closed.
func (s *Systems) Update() error {
	s.begin("Systems.Update")
	defer s.busy.Store(false)
	now, passed := s.clock(), time.Duration(0)
	if s.ticking {
		passed = min(max(now.Sub(s.ticked), 0), s.maxDelta)
	}
	s.ticked, s.ticking = now, true
	return s.run(passed)
}

// Step runs a frame that takes dt, whatever the clock says. It is for programs that have no clock,
// and for tests. It panics when dt is negative, and where Update does.
func (s *Systems) Step(dt time.Duration) error {
	s.begin("Systems.Step")
	defer s.busy.Store(false)
	if dt < 0 {
		panic(fmt.Sprintf("system: Systems.Step(%v): time does not go back", dt))
	}
	return s.run(dt)
}

// begin takes the systems for one call that updates or closes them (S1).
func (s *Systems) begin(op string) {
	s.check(op)
	if !s.take() {
		panic("system: " + op + ": " + underWay)
	}
	why := ""
	switch {
	case s.w.Closed():
		why = "the world is closed; Systems.Close comes before World.Close"
	case s.jobs.Closed():
		why = "the scheduler is closed; it is closed behind the systems"
	case seam.Locked(s.w):
		why = "a loop over rows or a share is under way; end it first"
	default:
		return
	}
	s.busy.Store(false)
	panic("system: " + op + ": " + why)
}

// underWay says why there is no update inside another, nor inside what a system is told.
const underWay = "an update is under way: it is inside a system, or in another goroutine"

// take takes the systems for the outermost call that calls into them; false: one is under way.
func (s *Systems) take() bool {
	taken := s.busy.CompareAndSwap(false, true)
	if taken {
		s.ending, s.broken = false, s.w.Closed() || s.jobs.Closed() // before: nobody is to be named
	}
	return taken
}

// run is a frame.
func (s *Systems) run(passed time.Duration) error {
	if s.frame.Elapsed+passed < 0 {
		panic(fmt.Sprintf("system: Systems.Step(%v): behind %v that is more than 292 years", passed, s.frame.Elapsed))
	}
	s.frame = Time{Elapsed: s.frame.Elapsed + passed, Delta: passed, Frame: s.frame.Frame + 1}
	s.now = s.frame
	s.root.state.turn()
	s.sweep()
	s.complete()
	return s.takeErrors()
}

// Close stops and destroys all systems, the last created first, closes their queries and buffers,
// and the scheduler if New made it. Commands that no point has played are dropped. The error joins
// what failed. It panics inside an update; a second call does nothing.
func (s *Systems) Close() error {
	if s != nil && s.closed {
		return nil
	}
	s.check("Systems.Close")
	if !s.take() {
		panic("system: Systems.Close: " + underWay)
	}
	defer s.busy.Store(false)
	if root := s.root.state; !root.gone { // it is where a goroutine ended in the first Close
		s.sweep()
		s.expel(root)
	}
	s.sweep()
	s.closed = true
	if s.own {
		s.keep(s.jobs.Close())
	}
	return s.takeErrors()
}

// check panics for systems that nobody made, or that are closed.
func (s *Systems) check(op string) {
	if s == nil || s.w == nil {
		panic("system: " + op + ": the systems are nil or the zero value; they come from New")
	}
	if s.closed {
		panic("system: " + op + ": the systems are closed")
	}
	s.refuseBodies(op)
}

// refuseBodies panics in the body of a job, as far as the scheduler can tell cheaply.
func (s *Systems) refuseBodies(op string) {
	if s.jobs.InBody() {
		panic("system: " + op + ": in the body of a job; bodies use what the update took for them before")
	}
}

// keep notes an error for the call that is under way.
func (s *Systems) keep(err error) {
	if err != nil {
		s.errs = append(s.errs, err)
	}
}

// complete completes all jobs; none are in flight of a scheduler that somebody closed.
func (s *Systems) complete() {
	if !s.jobs.Closed() {
		s.keep(s.jobs.Complete())
	}
}

// label says for whom the goroutine works, as job.Scheduler.Label.
func (s *Systems) label(ctx context.Context) {
	if !s.jobs.Closed() {
		s.jobs.Label(ctx)
	}
}

func (s *Systems) takeErrors() error {
	err := errors.Join(s.errs...)
	s.errs = nil
	return err
}

// warn logs a warning once.
func (s *Systems) warn(text string) {
	if slices.Contains(s.warnings, text) {
		return
	}
	s.warnings = append(s.warnings, text)
	log := s.log
	if log == nil {
		log = slog.Default()
	}
	log.Warn("system: " + text)
}

// Warnings returns what was logged: orders that name systems which are not there, or are in another
// group, found by the first update after a change; and systems that make queries or jobs in each
// update.
func (s *Systems) Warnings() []string { return slices.Clone(s.warnings) }
