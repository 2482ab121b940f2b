package system

import (
	"cmp"
	"fmt"
	"runtime/trace"
	"slices"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/internal/clock"
)

// turn is one round of one system, including what it throws (S5).
func (s *State) turn() {
	y := s.y
	if s.gone || y.broken {
		return
	}
	at := s.enter("Update")
	defer s.exit(at)
	for _, q := range s.pinned {
		if !y.w.Shared() {
			door.PinSince(q, s.last)
		}
	}
	wanted := !s.disabled && s.met()
	if wanted != s.running {
		s.change(at, wanted)
	}
	if wanted && !s.gone {
		s.complete() // S2
		start := clock.Now()
		s.system.Update(s)
		s.timing.note(clock.Now() - start)
		s.last = y.w.Version() // S4
		if y.w.Shared() {
			s.last-- // no new version begins now, so later writes get this one
		}
	}
	at.ended = true
}

// complete completes the system's own jobs, the jobs in flight that conflict with what the update
// itself touches, and jobs of systems that share resources with it. A closed scheduler has none.
func (s *State) complete() {
	if s.y.jobs.Closed() {
		return
	}
	s.completeOwn()
	s.completeRivals()
	s.y.keep(s.y.jobs.CompleteFor(s.touches))
}

// completeOwn completes the system's jobs, whose bodies may read variables that the system writes.
func (s *State) completeOwn() {
	for _, j := range s.lent {
		s.y.keep(j.Complete())
	}
}

// met reports whether every requirement has a query that matches something.
func (s *State) met() bool {
	for i := range s.needs {
		n := &s.needs[i]
		s.y.keep(s.y.jobs.CompleteFor(n.looks))
		if !slices.ContainsFunc(n.any, func(q *ecs.Query) bool { return !q.Empty() }) {
			return false
		}
	}
	return true
}

// change starts or stops the system.
func (s *State) change(at *visit, running bool) {
	s.complete()
	if !running {
		at.call = "Stop"
		if s.within != nil {
			s.within.halt() // after a Goexit in it, the group's next turn does the rest
		}
		s.running = false
		if x, ok := s.system.(Stopper); ok {
			x.Stop(s)
		}
		return
	}
	at.call = "Start"
	if x, ok := s.system.(Starter); ok {
		x.Start(s)
	}
	at.call, s.running = "Update", true
}

// visit is a call into a system that is under way, with the state to restore after it.
type visit struct {
	call   string // Start, Update ...
	ended  bool   // it returned
	locked bool   // the world was locked when the call began
	outer  *State
	region *trace.Region
}

// enter begins a call into the system.
func (s *State) enter(call string) *visit {
	y := s.y
	at := &s.visit
	*at = visit{call: call, outer: y.current, locked: door.Locked(y.w)}
	y.current, s.inTurn = s, true
	y.label(s.labels)
	if trace.IsEnabled() {
		at.region = trace.StartRegion(s.labels, "system "+s.name)
	}
	return at
}

// exit ends a call into a system that returned, panicked, or ended its goroutine. It is deferred.
func (s *State) exit(at *visit) {
	y := s.y
	if !at.ended {
		// A Goexit unwinds the turns of the enclosing groups too. Only the innermost turn, in which
		// it happened, reports it.
		if value := recover(); value != nil || !y.ending {
			_ = fmt.Sprint(value) // a refused look-up finds its reason when first printed
			y.keep(newPanicError(s.name, at.call, value))
			y.ending = value == nil
		}
	}
	y.inspect(s, at)
	if at.region != nil {
		at.region.End()
	}
	y.current, s.inTurn = at.outer, false
	labels := y.base
	if at.outer != nil {
		labels = at.outer.labels
	}
	y.label(labels)
}

// inspect begins a new version after a call into a system. It reports a system that left the world
// locked or closed. Only the innermost call is reported, since the enclosing groups end their turns
// in the same world.
func (y *Systems) inspect(s *State, at *visit) {
	switch {
	case y.broken:
		return
	case y.w.Closed() || y.jobs.Closed():
		y.broken = true
		// errors.md: `system: ...: ... closed the world or the scheduler; nothing updates after
		// it`, `the scheduler is closed; it is closed behind the systems` | A system closed what
		// the systems stand on. The first is an error of that frame, the second a panic of the
		// next. | `Systems.Close` works still; a scheduler of `WithScheduler` is closed after it.
		y.keep(fmt.Errorf("system: %s: %s closed the world or the scheduler; nothing updates after it", s.name, at.call))
		return
	case !y.w.Shared():
		y.w.Advance() // S4
	}
	switch {
	case !door.Locked(y.w):
		y.left = false
	case !y.left && !at.locked:
		y.left = true
		y.keep(fmt.Errorf("system: %s left the world locked: %w", s.name, ErrLocked))
	}
}

// halt stops a running system outside of its turn, because its group stops or it is to be
// destroyed.
func (s *State) halt() {
	if !s.running {
		return
	}
	s.visitFor("Stop", func(at *visit) { s.change(at, false) })
}

// visitFor calls into the system outside of its turn.
func (s *State) visitFor(call string, f func(at *visit)) {
	at := s.enter(call)
	defer s.exit(at)
	f(at)
	at.ended = true
}

// expel marks a system and everything in it as gone. The next sweep destroys them, the last created
// first (S7).
func (y *Systems) expel(s *State) {
	s.mark()
	y.leaving = append(y.leaving, s.newestFirst()...)
}

// drop destroys at once a system whose Create failed, with everything in it.
func (y *Systems) drop(s *State) {
	s.group.unlist(s)
	s.mark()
	all := s.newestFirst()
	y.leaving = slices.DeleteFunc(y.leaving, func(t *State) bool { return slices.Contains(all, t) })
	y.leaving = slices.Insert(y.leaving, 0, all...)
	for range all {
		y.destroyNext()
	}
}

// sweep destroys the removed systems. After a Goexit during a sweep, the next sweep does the rest.
func (y *Systems) sweep() {
	for len(y.leaving) > 0 {
		y.destroyNext()
	}
}

// destroyNext destroys the first system of leaving. The deferred calls make sure that all steps are
// done even if Stop or Destroy ends the goroutine.
func (y *Systems) destroyNext() {
	y.complete()
	s := y.leaving[0]
	y.leaving[0] = nil
	if y.leaving = y.leaving[1:]; len(y.leaving) == 0 {
		y.leaving = nil // its memory begins behind the last
	}
	defer s.leave()
	defer s.destroy()
	s.halt()
}

// destroy calls Destroy.
func (s *State) destroy() {
	defer s.end()
	if x, ok := s.system.(Destroyer); ok && !s.failed {
		s.visitFor("Destroy", func(*visit) { x.Destroy(s) })
	}
}

// end calls the functions given to OnDestroy, the last first. All are called even if one ends the
// goroutine.
func (s *State) end() {
	if n := len(s.ends); n > 0 {
		f := s.ends[n-1]
		s.ends = s.ends[:n-1]
		defer s.end()
		s.visitFor("OnDestroy", func(*visit) { f() })
	}
}

// leave releases everything that a system has.
func (s *State) leave() {
	s.release()
	if p, ok := s.system.(*Point); ok {
		p.drop()
	}
	s.y.forget(s)
	s.detach()
}

// newestFirst returns the system and everything in it, the last created first.
func (s *State) newestFirst() (all []*State) {
	s.each(func(s *State) { all = append(all, s) })
	slices.SortFunc(all, func(a, b *State) int { return cmp.Compare(b.created, a.created) })
	return all
}

// detach makes it possible to add a group or a command point again.
func (s *State) detach() {
	if s.y.root.state.gone {
		return // all systems are closed and stay so
	}
	if s.within != nil {
		*s.within = Group{rate: s.within.rate}
	}
	if p, ok := s.system.(*Point); ok {
		p.state = nil
	}
}

// each calls f for the system and everything in it.
func (s *State) each(f func(*State)) {
	f(s)
	if s.within != nil {
		for _, c := range s.within.systems {
			c.each(f)
		}
	}
}

// forget removes a system from the lists of Systems.
func (y *Systems) forget(s *State) {
	at, ok := slices.BinarySearchFunc(y.states, s.created, func(t *State, number uint64) int { return cmp.Compare(t.created, number) })
	if ok { // no, if a Goexit ended the call before
		y.states = slices.Delete(y.states, at, at+1)
	}
	if key, ok := identity(s.system); ok {
		delete(y.known, key)
	}
}
