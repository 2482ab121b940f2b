package system

import (
	"fmt"
	"slices"

	"quarry/ecs"
	"quarry/ecs/command"
	"quarry/ecs/internal/door"
	"quarry/ecs/job"
)

// The calls of a system to its State.

// OnDestroy registers f to be called when the system is destroyed by Systems.Close or State.Remove:
// after Stop and Destroy, the last registered first, while the system's queries are still open. It
// is the place to release what the function given to Make has made. f is also called if Create
// fails or panics. A panic in f is reported like a panic in Destroy. OnDestroy panics if f is nil
// or the system was removed.
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

// Systems returns the Systems that the system was added to.
func (s *State) Systems() *Systems { return s.y }

// Time returns the time of the current round, or of the last one. Bodies of jobs must not call it:
// they may still run when the next round has begun. The update copies the time to a variable for
// them.
func (s *State) Time() Time {
	s.y.refuseBodies("State.Time")
	return s.y.now
}

// LastVersion returns the World.Version of what the system wrote in its last update, or 0 if it
// never ran. Everything written since has a later version.
func (s *State) LastVersion() uint32 { return s.last }

// Query returns a new query that is closed with the system. Make it once, in Create: an update that
// makes a query each time gets slower each time, and is warned of. Changed and Ordered terms
// compare with LastVersion, so every loop of an update shows what changed since this system last
// ran. Before each update, jobs in flight that conflict with the query are completed; to use the
// query in a job instead, pass it to For.
func (s *State) Query(terms ...ecs.Term) *ecs.Query {
	s.check("State.Query")
	q := ecs.NewQuery(s.y.w, terms...)
	closed := func(q *ecs.Query) bool { return door.WorldOf(q) == nil } // by the system itself
	s.queries = append(slices.DeleteFunc(s.queries, closed), q)
	s.pinned = slices.DeleteFunc(s.pinned, closed)
	if door.Filters(q) {
		door.PinSince(q, s.last)
		s.pinned = append(s.pinned, q)
	}
	s.touch()
	s.warnAt(len(s.queries), "queries")
	return q
}

// many is the number of queries or jobs of a system at which making them in updates is warned of.
const many = 100

// warnAt warns if an update makes the n'th query or job of the system and n is many: the system
// keeps each of them until it is destroyed.
func (s *State) warnAt(n int, what string) {
	if n == many && s.inTurn && s.visit.call == "Update" {
		s.y.warn(fmt.Sprintf("%s makes %s in its updates, and has %d now: make them once, in Create or by Make",
			s.place(), what, n))
	}
}

// Uses declares types that the update itself reads or writes without a query, for instance with
// Component.Get, as Read and Write terms. Before each update, jobs in flight that conflict with
// them are completed. An access that is not declared panics while a job holds the type.
func (s *State) Uses(terms ...ecs.Term) {
	s.check("State.Uses")
	q := ecs.NewQuery(s.y.w, terms...)
	a := q.Access()
	q.Close()
	door.Join(&s.used, &a)
	s.touch()
}

// touch computes what the update itself reads and writes: the declared types, and the queries that
// are not given to a job.
func (s *State) touch() {
	s.touches = s.used
	for _, q := range s.queries {
		lent := slices.ContainsFunc(s.lent, func(j *job.Job) bool { return j.Query() == q })
		if !lent && door.WorldOf(q) != nil {
			a := q.Access()
			door.Join(&s.touches, &a)
		}
	}
}

// For returns a new job over q; see job.Scheduler.For. The job is named after the system, with a
// number from 2 on for further jobs. From now on q is the job's: the update no longer waits for
// jobs that conflict with q. The job runs after conflicting jobs of earlier systems and beside all
// others. Before the system updates again, also in a later step of the same frame, the job is
// completed, so bodies may share variables with the update. Make the job once, like a query.
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

// Require makes the system update only while at least one of the queries matches something. Each
// call adds a condition; all must hold. A query from State.Query with a Changed term holds if
// something changed since the system last ran. Require panics without queries, and for a query that
// is nil, closed or of another world.
func (s *State) Require(queries ...*ecs.Query) {
	s.check("State.Require")
	if len(queries) == 0 {
		panic("system: State.Require: " + s.name + ": no query is given")
	}
	n := need{any: slices.Clone(queries)}
	for _, q := range queries {
		if door.WorldOf(q) != s.y.w {
			panic(fmt.Sprintf("system: State.Require: %s: %v is nil, closed, or of another world", s.name, q))
		}
		a := door.Looks(q)
		door.Join(&n.looks, &a)
	}
	s.needs = append(s.needs, n)
}

// Commands returns a buffer that p plays at its next update. Afterwards the buffer is void, so call
// Commands in every update; until p updates, all calls of this system return the same buffer, which
// is its own. Commands panics if p is nil, was removed, or is not among these systems.
func (s *State) Commands(p *Point) *command.Buffer {
	s.check("State.Commands")
	if p == nil || p.state == nil || p.state.gone || p.state.y != s.y {
		panic("system: State.Commands: " + s.name +
			": the command point is nil, was removed, or was not added to these systems")
	}
	return p.hand(s)
}

// SetDependency sets the handle that Dependency returns. It is for jobs that fill something which
// queries do not declare, such as a Go slice, so that jobs of other systems can wait for them.
func (s *State) SetDependency(h job.Handle) {
	s.check("State.SetDependency")
	s.handed = h
}

// Dependency returns the handle last set by SetDependency, for Job.After:
//
//	query.After(systems.Find("index").Dependency()).Parallel(body)
//
// A handle of a completed flight, or one that was never set, delays nothing.
func (s *State) Dependency() job.Handle {
	if s == nil {
		panic("system: State.Dependency: the state is nil; Systems.Find returns that for names that are not there")
	}
	return s.handed
}

// Enable makes a disabled system update again.
func (s *State) Enable() { s.switchTo("State.Enable", false) }

// Disable stops the system from updating, from its next turn on, until Enable. A disabled group
// updates none of its systems.
func (s *State) Disable() { s.switchTo("State.Disable", true) }

func (s *State) switchTo(op string, disabled bool) {
	s.check(op)
	s.disabled = disabled
}

// Enabled reports whether the system itself is enabled; an enclosing group may still be disabled.
func (s *State) Enabled() bool { return !s.disabled }

// Running reports whether the system is started and not stopped.
func (s *State) Running() bool { return s.running }

// Remove removes the system and, if it is a group, everything in it. Removed systems no longer
// update. They are stopped if running and destroyed, the last created first: at once, or at the end
// of the update or other call into a system that is under way. The next update returns their
// failures. The name is free at once; the value may be added again after it is destroyed. Remove
// panics for the default groups and points; a second call does nothing.
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
