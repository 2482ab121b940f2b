package system

import (
	"context"
	"fmt"
	"runtime/trace"
	"slices"
	"strings"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/internal/clock"
)

// Turns. All calls into systems go through enter and exit, which keep S4 and S5.

// take marks the systems as busy for an outermost call into them. It returns false if a call is
// already under way.
func (s *Systems) take() bool {
	taken := s.busy.CompareAndSwap(false, true)
	if taken {
		s.ending, s.broken = false, s.w.Closed() || s.jobs.Closed() // closed earlier: no system to blame
	}
	return taken
}

// complete completes all jobs. A scheduler that was closed has none in flight.
func (s *Systems) complete() {
	if !s.jobs.Closed() {
		s.keep(s.jobs.Complete())
	}
}

// label sets the labels of the goroutine and its jobs; see job.Scheduler.Label.
func (s *Systems) label(ctx context.Context) {
	if !s.jobs.Closed() {
		s.jobs.Label(ctx)
	}
}

// turn is one round of one system, including what it throws (S5).
func (s *State) turn() {
	y := s.y
	if s.gone || y.broken {
		return
	}
	at := s.enter("Update")
	defer s.exit(at)
	for _, q := range s.pinned {
		if !y.w.Lent() {
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
		if y.w.Lent() {
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

// completeRivals completes the jobs of every system that shares a resource with this one, if one of
// the two may write it (S2).
func (s *State) completeRivals() {
	for _, h := range s.holds {
		for _, u := range h.r.users {
			if u != s && (h.write || u.writes(h.r)) {
				u.completeOwn()
			}
		}
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
		y.keep(fmt.Errorf("system: %s: %s closed the world or the scheduler; nothing updates after it",
			s.name, at.call))
		return
	case !y.w.Lent():
		y.w.Advance() // S4
	}
	if !at.locked {
		y.keep(s.endCursors())
	}
	switch {
	case !door.Locked(y.w):
		y.left = false
	case !y.left && !at.locked:
		y.left = true
		y.keep(fmt.Errorf("system: %s left the world locked: %w", s.name, ErrLocked))
	}
}

// endCursors ends the loops of Cursors that a call into the system left open, and returns an error
// that names them, the outermost first. The world was not locked when the call began.
func (s *State) endCursors() error {
	if !door.Locked(s.y.w) {
		return nil
	}
	var names []string
	for _, q := range slices.Backward(door.EndCursors(s.y.w)) {
		names = append(names, q.String())
	}
	if names == nil {
		return nil
	}
	return fmt.Errorf("system: %s left a Cursor of %s without Close, ended here: %w",
		s.name, strings.Join(names, " and one of "), ErrLocked)
}

// halt stops a running system outside of its turn, because its group stops or it is to be
// destroyed.
func (s *State) halt() {
	if !s.running {
		return
	}
	s.visitFor("Stop", func(at *visit) { s.change(at, false) })
}

// halt stops the group's systems, the last first. Removed systems stop when they are destroyed.
func (g *Group) halt() {
	for _, s := range slices.Backward(g.order) {
		if !s.gone {
			s.halt()
		}
	}
}

// visitFor calls into the system outside of its turn.
func (s *State) visitFor(call string, f func(at *visit)) {
	at := s.enter(call)
	defer s.exit(at)
	f(at)
	at.ended = true
}
