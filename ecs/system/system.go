package system

import (
	"context"
	"log/slog"
	"reflect"
	"runtime/trace"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"quarry/ecs"
	"quarry/ecs/command"
	"quarry/ecs/job"
)

// System, and the structs that need each other: Systems, the State of each system, Group and Point.
// systems.go, state.go, group.go and point.go have what programs call, turn.go and removal.go the
// life of a system.

// System is anything that a group updates. It may also implement Creator, Starter, Stopper and
// Destroyer. All methods are called on the goroutine of the world's owner.
type System interface {
	// Update is called once per round of the group while the system is enabled and its requirements
	// are met.
	Update(s *State)
}

// Creator is a System with a call when it is added; it makes its queries and jobs then.
type Creator interface {
	// Create is called by Group.Add. If it returns an error or panics, the system is not added.
	Create(s *State) error
}

// Starter is a System with a call when it starts to run.
type Starter interface {
	// Start is called before the first update, and again before the first update after a time in
	// which the system was disabled or its requirements were not met. If Start panics, the next
	// round calls it again; the system does not update until Start has returned.
	Start(s *State)
}

// Stopper is a System with a call when it stops running.
type Stopper interface {
	// Stop is called when a running system is disabled, its requirements are no longer met, its
	// group stops, or it is about to be destroyed.
	Stop(s *State)
}

// Destroyer is a System with a call before it is destroyed.
type Destroyer interface {
	// Destroy is called by Systems.Close and State.Remove, after Stop. The system's queries are
	// still open.
	Destroy(s *State)
}

// Func is a function as a System. See Make for a system that has queries.
type Func func(s *State)

// Update calls f.
func (f Func) Update(s *State) { f(s) }

// Make returns a System from a function. create is called once, when the system is added, and makes
// the queries, jobs and bodies of jobs. It returns the function that each update calls. Use
// State.OnDestroy for anything that must be released with the system; those functions are also
// called if create panics, and then Add and TryAdd panic too. Make panics if create is nil; adding
// the system panics if create returns nil. A function of your own that returns Make(...) needs the
// directive noinline, or its loops may allocate: see docs/semantics.md.
func Make(create func(s *State) (update func())) System {
	if create == nil {
		panic("system: Make: the function is nil")
	}
	return &made{create: create}
}

type made struct {
	create func(s *State) (update func())
	update func()
}

// Create implements Creator.
func (m *made) Create(s *State) error {
	if m.update = m.create(s); m.update == nil {
		panic("system: Make: the function for " + s.name + " returned nil; it returns what is called in each update")
	}
	return nil
}

// Update implements System.
func (m *made) Update(*State) { m.update() }

// Systems holds the systems of a world, with their groups, command points, time, and the scheduler
// of their jobs. It belongs to the world's owner.
type Systems struct {
	w        *ecs.World
	jobs     *job.Scheduler
	own      bool // jobs was made by New
	root     *Group
	defaults defaults
	states   []*State // in the order of creation
	named    map[string]*State
	known    map[System]*State // systems that are pointers, to find one added twice
	created  uint64            // number of the state created last
	things   map[reflect.Type]*resource

	snapshots *Snapshots // for other goroutines; nil until it is asked for

	clock    func() time.Time
	ticked   time.Time // the clock at the last Update
	ticking  bool      // Update was called before
	maxDelta time.Duration
	frame    Time   // of the whole frame
	now      Time   // of the group whose round is under way
	current  *State // the system whose turn it is

	options  []job.Option
	buffers  []command.Option
	log      *slog.Logger
	base     context.Context
	shuffled bool
	seed     uint64

	busy     atomic.Bool
	ending   bool // runtime.Goexit inside a system is ending the goroutine
	left     bool // a system left the world locked, and this was reported
	broken   bool // a system closed the world or the scheduler, and this was reported
	closed   bool
	errs     []error  // not yet returned
	leaving  []*State // removed systems, to be destroyed in this order
	warnings []string
}

// State is one system's view of its world: what the system may use, and what decides when it runs.
// It belongs to the world's owner.
type State struct {
	y       *Systems
	name    string
	system  System
	group   *Group // that contains the system; nil for the root
	within  *Group // that the system itself is; nil if it is not a group
	created uint64 // number, in the order of creation

	registered string // package that registered it; "": it was added by Add
	placing

	queries  []*ecs.Query // made by Query, open
	pinned   []*ecs.Query // the queries with Changed or Ordered terms
	lent     []*job.Job   // made by For
	used     ecs.Access   // declared by Uses
	touches  ecs.Access   // of the update itself: used, and queries not given to a job
	needs    []need
	outboxes []*outbox
	handed   job.Handle
	holds    []hold
	ends     []func() // given to OnDestroy

	disabled bool
	running  bool
	inTurn   bool
	gone     bool   // removed
	failed   bool   // Create returned an error or panicked: do not call Destroy
	last     uint32 // world version of the last update; 0 if none
	labels   context.Context
	timing   Timing
	visit    visit // the call into the system that is under way
}

// need is one condition of Require.
type need struct {
	any   []*ecs.Query
	looks ecs.Access // what decides whether a query matches
}

// visit is a call into a system that is under way, with the state to restore after it.
type visit struct {
	call   string // Start, Update ...
	ended  bool   // it returned
	locked bool   // the world was locked when the call began
	outer  *State
	region *trace.Region
}

// Group is a system that updates other systems, in order. To replace the update of a group, embed a
// *Group from NewGroup in a struct with an Update of its own:
//
//	type Substeps struct{ *system.Group }
//	func (g Substeps) Update(s *system.State) { for range 4 { g.Group.Update(s) } }
type Group struct {
	state   *State // the group's own; nil if not added
	systems []*State
	order   []*State // sorted, as a round updates them
	stale   bool     // systems changed since they were sorted
	targets targets
	rate    Rate
	inRound bool
}

// Point is a command point: a system whose update plays the command buffers that it handed out
// since its last update, in the order in which they were asked for. A command that cannot apply is
// an error of the frame, with the name of the system that recorded it; the others are applied
// (command.Buffer.PlayRest). If the world is full, commands not yet applied are lost and their
// memory is given back. If no buffer was handed out, the update costs nothing and completes no job;
// otherwise it completes all jobs.
type Point struct {
	state   *State
	void    string // why a buffer records nothing after it was played
	pending []*outbox
}

// outbox is the buffer of one system for one point.
type outbox struct {
	p    *Point
	from *State
	l    *command.Lender
	b    *command.Buffer // of l
	open bool            // it is in pending
	last bool            // its system is gone: close it once its commands are played
}

// resource is the entry of one type.
type resource struct {
	of    reflect.Type
	value any      // a pointer; nil if not set
	users []*State // systems that asked for it, in the order of asking
}

// hold is a system's use of a resource.
type hold struct {
	r     *resource
	write bool
}

// defaults holds the groups and command points that every Systems has.
type defaults struct {
	initialization, simulation, presentation *Group
	fixed, variable, late                    *Group
	points                                   [5]*Point // in the order of their methods
}

// check panics if the systems did not come from New or are closed.
func (s *Systems) check(op string) {
	if s == nil || s.w == nil {
		panic("system: " + op + ": the systems are nil or the zero value; they come from New")
	}
	if s.closed {
		panic("system: " + op + ": the systems are closed")
	}
	s.refuseBodies(op)
}

// refuseBodies panics in the body of a job, as far as the scheduler can find out cheaply.
func (s *Systems) refuseBodies(op string) {
	if s.jobs.InBody() {
		panic("system: " + op + ": in the body of a job; bodies use what the update took for them before")
	}
}

// check panics if the state is nil or zero, was removed, or belongs to closed systems.
func (s *State) check(op string) {
	switch {
	case s == nil || s.y == nil:
		panic("system: " + op + ": the state is nil or the zero value; states come from Group.Add")
	case s.y.closed:
		panic("system: " + op + ": " + s.name + ": the systems are closed")
	case s.gone && !s.inTurn:
		panic("system: " + op + ": " + s.name + " was removed")
	}
	s.y.refuseBodies(op)
}

// checkTurn panics unless the system's own update is under way. Only a turn completes jobs and
// reports failures, so a group or a point must not be updated outside of it.
func (s *State) checkTurn(op string) {
	if !s.inTurn || s.visit.call != "Update" {
		panic("system: " + op + ": outside of the turn of " + s.name)
	}
}

// check panics if the group is nil or was not added.
func (g *Group) check(op string) {
	if g == nil {
		panic("system: " + op + ": the group is nil; groups come from NewGroup")
	}
	if g.state == nil {
		panic("system: " + op + ": the group was not added to Systems; add it to its own group first")
	}
	g.state.check(op)
}

// place returns the path of a system from the root.
func (s *State) place() string {
	names := []string{s.name}
	for ; s.group != nil; s = s.group.state {
		names = append(names, s.group.state.name)
	}
	slices.Reverse(names)
	return strings.Join(names, "/")
}

// standing describes a system that is already added, for the panic of a second Add.
func (s *State) standing() string {
	if s.gone {
		return s.name + ", which was removed and is destroyed when this update ends"
	}
	return s.name + " already"
}
