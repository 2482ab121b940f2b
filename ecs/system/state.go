package system

import (
	"context"
	"fmt"
	"slices"

	"quarry/ecs"
	"quarry/ecs/command"
	"quarry/ecs/job"
	"quarry/internal/seam"
)

// State is one system's place in its world: what it may use, and what decides when it runs. It
// belongs to the world's owner.
type State struct {
	y       *Systems
	name    string
	system  System
	group   *Group // that it is in; nil: the root
	within  *Group // that it is; nil: it is none
	created uint64 // number, in the order of creation
	placing

	queries  []*ecs.Query // made by Query, open
	pinned   []*ecs.Query // those with Changed or Ordered
	lent     []*job.Job   // made by For
	used     ecs.Access   // of Uses
	touches  ecs.Access   // of the update itself: that and queries which are not a job's
	needs    []need
	outboxes []*outbox
	handed   job.Handle
	holds    []hold
	ends     []func() // of OnDestroy

	disabled bool
	running  bool
	inTurn   bool
	gone     bool   // removed
	failed   bool   // Create did not return nil, so there is no Destroy
	last     uint32 // version of its last update; 0: never
	labels   context.Context
	timing   Timing
	visit    visit // the call into it that is under way
}

// need is one condition of Require.
type need struct {
	any   []*ecs.Query
	looks ecs.Access // what tells whether one matches
}

// OnDestroy has f called when the system is destroyed, by Systems.Close or State.Remove: behind its
// Stop and Destroy, the last f first, while its queries are open still. So what the function of
// Make makes has an owner. It is called where Create failed, too, and a panic in f is an error as
// one in Destroy is. It panics for nil, and when the system was destroyed.
func (s *State) OnDestroy(f func()) {
	s.check("State.OnDestroy")
	if f == nil {
		panic("system: State.OnDestroy: " + s.name + ": the function is nil")
	}
	s.ends = append(s.ends, f)
}

// Name returns the name that the system was added with.
func (s *State) Name() string { return s.name }

// World returns the world.
func (s *State) World() *ecs.World { return s.y.w }

// Systems returns the systems that it is one of.
func (s *State) Systems() *Systems { return s.y }

// Time returns the time of the round that is under way, or was last. Bodies of jobs have it from a
// variable that the update sets: they may run when the next round has begun.
func (s *State) Time() Time {
	s.y.refuseBodies("State.Time")
	return s.y.now
}

// LastVersion returns the World.Version of what the system wrote in its last update; 0 when it
// never ran. Whatever was written after has a later one.
func (s *State) LastVersion() uint32 { return s.last }

// Query makes a query for the system, closed when the system goes: make it once, in Create. An
// update that makes one each time is slower each time, and warned of. Its Changed and Ordered terms
// compare with LastVersion, so they show what changed since this system last ran, in every loop of
// an update. Before each update, jobs in flight that conflict with the query are completed. For a
// job, give the query to For.
func (s *State) Query(terms ...ecs.Term) *ecs.Query {
	s.check("State.Query")
	q := ecs.NewQuery(s.y.w, terms...)
	closed := func(q *ecs.Query) bool { return q.World() == nil } // by the system itself
	s.queries = append(slices.DeleteFunc(s.queries, closed), q)
	s.pinned = slices.DeleteFunc(s.pinned, closed)
	if seam.Filters(q) {
		seam.PinSince(q, s.last)
		s.pinned = append(s.pinned, q)
	}
	s.touch()
	s.warnAt(len(s.queries), "queries")
	return q
}

// many is how many queries or jobs a system may have before those made in an update are warned of.
const many = 100

// warnAt warns of an update that makes the n'th query or job of the system, where that is one too
// many: what it makes anew each time is kept until the system goes.
func (s *State) warnAt(n int, what string) {
	if n == many && s.inTurn && s.visit.call == "Update" {
		s.y.warn(fmt.Sprintf("%s makes %s in its updates, and has %d now: make them once, in Create or by Make", s.place(), what, n))
	}
}

// Uses declares types that the update reads or writes by itself without a query, as by
// Component.Get, in Read and Write terms: before each update, jobs in flight that conflict are
// completed. Without it, such an access panics while a job has the type.
func (s *State) Uses(terms ...ecs.Term) {
	s.check("State.Uses")
	q := ecs.NewQuery(s.y.w, terms...)
	a := q.Access()
	q.Close()
	seam.Join(&s.used, &a)
	s.touch()
}

// touch works out what the update itself reads and writes: the queries that are not a job's.
func (s *State) touch() {
	s.touches = s.used
	for _, q := range s.queries {
		lent := slices.ContainsFunc(s.lent, func(j *job.Job) bool { return j.Query() == q })
		if !lent && q.World() != nil {
			a := q.Access()
			seam.Join(&s.touches, &a)
		}
	}
}

// For makes a job over q, named after the system, the second of them with a 2 behind it and so on;
// see job.Scheduler.For. The query is the job's from now on: the update waits for nothing because
// of it. Jobs of other systems that it conflicts with run before it, others beside it. Before the
// system updates again, in another step of the frame, the job is completed: bodies may share
// variables with the update. Make it once, as a query.
func (s *State) For(q *ecs.Query) *job.Job {
	s.check("State.For")
	if q == nil {
		panic("system: State.For: the query is nil")
	}
	name := s.name
	if n := len(s.lent); n > 0 {
		name = fmt.Sprint(name, " ", n+1)
	}
	j := s.y.jobs.For(q).Named(name)
	s.lent = append(s.lent, j)
	s.touch()
	s.warnAt(len(s.lent), "jobs")
	return j
}

// Require makes the system update only while one of the queries matches something. Each call is one
// condition more, and all must hold. A query from State.Query with Changed holds when something
// changed since the system last ran.
func (s *State) Require(queries ...*ecs.Query) {
	s.check("State.Require")
	if len(queries) == 0 {
		panic("system: State.Require: " + s.name + ": no query is given")
	}
	n := need{any: slices.Clone(queries)}
	for _, q := range queries {
		if q.World() != s.y.w {
			panic(fmt.Sprintf("system: State.Require: %s: %v is nil, closed, or of another world", s.name, q))
		}
		a := seam.Looks(q)
		seam.Join(&n.looks, &a)
	}
	s.needs = append(s.needs, n)
}

// Commands returns a buffer that p plays when it updates next, after which it is void: ask in every
// update. In one round the calls of a system return the same buffer. It panics when p is not among
// these systems.
func (s *State) Commands(p *Point) *command.Buffer {
	s.check("State.Commands")
	if p == nil || p.state == nil || p.state.gone || p.state.y != s.y {
		panic("system: State.Commands: " + s.name + ": the command point is nil, was removed, or was not added to these systems")
	}
	return p.hand(s)
}

// SetDependency sets the handle that Dependency returns: of a job, or several combined, that fill
// something which queries do not declare, as a Go slice, so that jobs of other systems can wait for
// it.
func (s *State) SetDependency(h job.Handle) {
	s.check("State.SetDependency")
	s.handed = h
}

// Dependency returns what the system handed over last, for Job.After:
//
//	query.After(systems.Find("index").Dependency()).Parallel(body)
//
// When the flight was completed, or none was handed over, it says nothing.
func (s *State) Dependency() job.Handle {
	if s == nil {
		panic("system: State.Dependency: the state is nil; Systems.Find returns that for names that are not there")
	}
	return s.handed
}

// Enable has the system update again.
func (s *State) Enable() { s.switchTo("State.Enable", false) }

// Disable has the system update no more, from its next turn on, until Enable. A group that is
// disabled updates none of its systems.
func (s *State) Disable() { s.switchTo("State.Disable", true) }

func (s *State) switchTo(op string, disabled bool) {
	s.check(op)
	s.disabled = disabled
}

// Enabled reports whether the system is enabled itself; a group around it may not be.
func (s *State) Enabled() bool { return !s.disabled }

// Running reports whether the system was updated in its last turn: whether it was started and not
// stopped.
func (s *State) Running() bool { return s.running }

// Remove takes the system out, with what is in it when it is a group: it does not update any more,
// stops if it was running, and is destroyed, the last created first; all that at the end of the
// update, or of whatever else is calling into a system, when that is under way, else now. What
// these throw is among the errors of the next update. Its name is free at once, and the value may
// be added again once it is destroyed. It panics for the default groups and points; a second call
// does nothing.
func (s *State) Remove() {
	if s != nil && s.gone {
		return
	}
	s.check("State.Remove")
	if s.y.isDefault(s) {
		panic("system: State.Remove: " + s.name + " is one of the defaults; Disable it")
	}
	y := s.y
	s.group.unlist(s)
	y.expel(s)
	if y.take() {
		defer y.busy.Store(false)
		y.sweep()
	}
}

// mark marks a system and what is in it as gone.
func (s *State) mark() {
	s.gone = true
	delete(s.y.named, s.name)
	if s.within != nil {
		s.within.mark()
	}
}

// check panics for a state that is none, was removed, or whose systems are closed.
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

// checkTurn panics outside of the update of the system itself: a group or a point that updates then
// has no turn in which its jobs are completed, those of others are waited for, and failures are
// reported.
func (s *State) checkTurn(op string) {
	if !s.inTurn || s.visit.call != "Update" {
		panic("system: " + op + ": outside of the turn of " + s.name)
	}
}

// release closes what the state owns.
func (s *State) release() {
	s.drop()
	for _, o := range s.outboxes {
		o.release()
	}
	for _, q := range s.queries {
		q.Close()
	}
	s.queries, s.pinned, s.lent, s.needs = nil, nil, nil, nil
}
