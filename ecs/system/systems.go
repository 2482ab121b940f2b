package system

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	"quarry/ecs"
	"quarry/ecs/command"
	"quarry/ecs/internal/door"
	"quarry/ecs/job"
	"quarry/internal/clock"
)

// The systems.
//
// Systems is a tree of groups and of the systems that they update. One goroutine runs all of it:
//
//	Systems.Update ---- the clock, once a frame
//	  Group.Update ---- order of its systems, sorted anew where it changed; its rate, perhaps several rounds
//	    State.turn ---- one system: requirements, Start or Stop, jobs it must wait for, Update, what failed
//	      Point.Update - a command point is a system that plays the buffers it handed out
//
// The jobs that systems schedule run beside it on the workers of one scheduler. They are completed
// when something needs the types they hold, at the latest at the end of the frame.
//
// Invariants, cited where they are kept:
//
//	S1 One update at a time, by the world's owner, outside of loops over rows.
//	S2 Before a system updates, these jobs in flight are completed and no others: its own of an
//	   earlier round; jobs that conflict with what the update itself touches or that change what
//	   its requirements look at; jobs of systems that share a resource with it which one of the
//	   two may write. Jobs wait for each other by the scheduler's rules.
//	S3 Inside a group the order is: bucket, what Before and After say, order of adding. It
//	   is the same in every run with the same calls, unless Shuffle says otherwise.
//	S4 What a system writes has the version that LastVersion returns afterwards. Every later
//	   write has a later version. So Changed shows a system neither its own writes nor
//	   anything twice, and it misses nothing, however long the system did not run.
//	S5 A panic in a system ends that system's turn only, and is reported with its name. The
//	   time, the labels and the current system are then as before.
//	S6 A buffer of a point records from State.Commands until the point's next update, which
//	   plays it. Each is played once, in the order in which they were asked for.
//	S7 A created system is destroyed once, the last created first, after Stop if it was running.

// Option changes how New works.
type Option func(*Systems)

// Clock returns an option that sets the clock of Update. The default measures the same time as
// time.Now, but in fine steps on Windows too, where time.Now advances every 15.6 ms. Clock panics
// if now is nil.
func Clock(now func() time.Time) Option {
	if now == nil {
		panic("system: Clock: the function is nil")
	}
	return func(s *Systems) { s.clock = now }
}

// sinceStart is the default clock. Its date is meaningless: Update only takes differences.
func sinceStart() time.Time { return time.Time{}.Add(clock.Now()) }

// MaxDelta returns an option that bounds the time of one frame of Update, however late the call
// comes. The default is a third of a second. MaxDelta panics if d is not positive.
func MaxDelta(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("system: MaxDelta(%v): it must be positive", d))
	}
	return func(s *Systems) { s.maxDelta = d }
}

// Jobs returns an option that passes options to the scheduler that New makes.
func Jobs(options ...job.Option) Option {
	for _, o := range options {
		if o == nil {
			panic("system: Jobs: an option is nil")
		}
	}
	return func(s *Systems) { s.options = append(s.options, options...) }
}

// WithScheduler returns an option that runs jobs on an existing scheduler of the same world. Close
// does not close that scheduler: its caller does, or its goroutines stay.
func WithScheduler(jobs *job.Scheduler) Option {
	if jobs == nil {
		panic("system: WithScheduler: the scheduler is nil")
	}
	return func(s *Systems) { s.jobs = jobs }
}

// Logger returns an option that sets the logger for warnings. The default is slog.Default().
func Logger(l *slog.Logger) Option {
	if l == nil {
		panic("system: Logger: the logger is nil; slog.DiscardHandler makes a silent one")
	}
	return func(s *Systems) { s.log = l }
}

// Shuffle returns an option that makes groups update systems whose order is not fixed in an order
// drawn from the seed. A program whose test results depend on the seed lacks a Before or After.
func Shuffle(seed uint64) Option {
	return func(s *Systems) { s.shuffled, s.seed = true, seed }
}

// TraceCommands returns an option that records the source line of each command; see command.Trace.
func TraceCommands() Option {
	return func(s *Systems) { s.buffers = append(s.buffers, command.Trace) }
}

// Context returns an option that sets a context with profiler labels. Systems have these labels
// beside their own, and the goroutine has them after an update. The default is
// context.Background().
func Context(ctx context.Context) Option {
	if ctx == nil {
		panic("system: Context: the context is nil")
	}
	return func(s *Systems) { s.base = ctx }
}

// New returns the systems of a world, with the default groups and command points; see the package
// comment. It panics if the world is closed, or has a job.Scheduler that was not passed by
// WithScheduler. Call Close before World.Close.
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

// Time returns the time of the current frame, or of the last one between frames.
func (s *Systems) Time() Time { return s.frame }

// Snapshots returns what hands out snapshots of the world to other goroutines. The first call makes
// it; it belongs to the owner. Systems.Close refuses those who wait, but not those who read: wait
// for them (http.Server.Shutdown) before World.Close, which panics while they read.
func (s *Systems) Snapshots() *Snapshots {
	s.check("Systems.Snapshots")
	if s.snapshots == nil {
		s.snapshots = &Snapshots{w: s.w, latest: latest{every: 1}}
	}
	return s.snapshots
}

// Add adds a system to the simulation group; see Group.Add.
func (s *Systems) Add(name string, sys System, orderings ...Ordering) *State {
	s.check("Systems.Add")
	return s.defaults.simulation.Add(name, sys, orderings...)
}

// TryAdd is Add that returns an error; see Group.TryAdd.
func (s *Systems) TryAdd(name string, sys System, orderings ...Ordering) (*State, error) {
	s.check("Systems.TryAdd")
	return s.defaults.simulation.TryAdd(name, sys, orderings...)
}

// Find returns the system with that name, or nil.
func (s *Systems) Find(name string) *State { return s.named[name] }

// Update runs one frame by the clock. The frame takes the time since the last Update, at most
// MaxDelta; the first takes none. All jobs are completed when Update returns. The error joins the
// failures of the frame, among them *PanicError, *command.PlayError and *job.PanicError; systems
// that did not fail have run. Update panics inside an update or a loop over rows, while the world
// is lent, and if the world is closed.
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

// Step runs one frame that takes dt, independent of the clock. It is for tests and for programs
// without a clock. It panics if dt is negative, and where Update panics.
func (s *Systems) Step(dt time.Duration) error {
	s.begin("Systems.Step")
	defer s.busy.Store(false)
	if dt < 0 {
		panic(fmt.Sprintf("system: Systems.Step(%v): time does not go back", dt))
	}
	return s.run(dt)
}

// begin marks the systems as busy for one call that updates them, or panics (S1).
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
	case door.Locked(s.w):
		why = "a loop over rows or a loan is under way; end it first"
	default:
		return
	}
	s.busy.Store(false)
	panic("system: " + op + ": " + why)
}

// underWay is the message of a call inside an update, or inside another call into a system.
const underWay = "an update is under way: it is inside a system, or in another goroutine"

// run runs a frame.
func (s *Systems) run(passed time.Duration) error {
	if s.frame.Elapsed+passed < 0 {
		panic(fmt.Sprintf("system: Systems.Step(%v): behind %v that is more than 292 years", passed, s.frame.Elapsed))
	}
	s.frame = Time{Elapsed: s.frame.Elapsed + passed, Delta: passed, Frame: s.frame.Frame + 1}
	s.now = s.frame
	if s.snapshots != nil {
		s.snapshots.retire()
	}
	s.root.state.turn()
	s.sweep()
	s.complete()
	if s.snapshots != nil && !s.w.Closed() && !door.Locked(s.w) {
		s.snapshots.publish(s.frame)
	}
	return s.takeErrors()
}

// Close stops and destroys all systems, the last created first. It closes their queries and
// buffers, and the scheduler if New made it. Commands that no point has played are dropped. The
// error joins everything that failed. Close panics inside an update; a second call does nothing.
func (s *Systems) Close() error {
	if s != nil && s.closed {
		return nil
	}
	s.check("Systems.Close")
	if !s.take() {
		panic("system: Systems.Close: " + underWay)
	}
	defer s.busy.Store(false)
	if root := s.root.state; !root.gone { // gone if the first Close ended by Goexit
		s.sweep()
		s.expel(root)
	}
	s.sweep()
	s.closed = true
	if s.snapshots != nil {
		s.snapshots.end()
	}
	if s.own {
		s.keep(s.jobs.Close())
	}
	return s.takeErrors()
}
