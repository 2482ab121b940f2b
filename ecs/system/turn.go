package system

import (
	"cmp"
	"fmt"
	"runtime/trace"
	"slices"

	"quarry/ecs"
	"quarry/internal/clock"
	"quarry/internal/seam"
)

// turn is one round of one system: all that happens to it then, and what it throws (S5).
func (s *State) turn() {
	y := s.y
	if s.gone || y.broken {
		return
	}
	at := s.enter("Update")
	defer s.exit(at)
	for _, q := range s.pinned {
		if !seam.Shared(y.w) {
			seam.PinSince(q, s.last)
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
		if seam.Shared(y.w) {
			s.last-- // no new version begins now: what others write next has this one
		}
	}
	at.ended = true
}

// complete completes the jobs in flight that conflict with what the update itself touches, the
// system's own, and those that share resources with it. None are of a scheduler that was closed.
func (s *State) complete() {
	if s.y.jobs.Closed() {
		return
	}
	s.completeOwn()
	s.completeRivals()
	s.y.keep(s.y.jobs.CompleteFor(s.touches))
}

// completeOwn completes the system's jobs: bodies may read variables that the system writes.
func (s *State) completeOwn() {
	for _, j := range s.lent {
		s.y.keep(j.Complete())
	}
}

// met reports whether something of what each requirement names is there.
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
			s.within.halt() // where the goroutine ends in it, the group's next turn does the rest
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

// visit is a call into a system under way: what is put back behind it.
type visit struct {
	call   string // Start, Update ...
	ended  bool   // it returned
	locked bool   // the world was, when it began
	outer  *State
	region *trace.Region
}

// enter begins a call into the system.
func (s *State) enter(call string) *visit {
	y := s.y
	at := &s.visit
	*at = visit{call: call, outer: y.current, locked: seam.Locked(y.w)}
	y.current, s.inTurn = s, true
	y.label(s.labels)
	if trace.IsEnabled() {
		at.region = trace.StartRegion(s.labels, "system "+s.name)
	}
	return at
}

// exit ends a call into a system, which returned, panicked, or ended its goroutine. It is deferred.
func (s *State) exit(at *visit) {
	y := s.y
	if !at.ended {
		// A goroutine that ends takes the groups' turns with it; the first is the one in which it
		// ended.
		if value := recover(); value != nil || !y.ending {
			_ = fmt.Sprint(value) // a look-up that was refused says why when it is first asked
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

// inspect begins a new version behind a call into a system, and names the system that left the
// world locked or closed: the first, since the groups around it end their turns in the same world.
func (y *Systems) inspect(s *State, at *visit) {
	switch {
	case y.broken:
		return
	case y.w.Closed() || y.jobs.Closed():
		y.broken = true
		y.keep(fmt.Errorf("system: %s: %s closed the world or the scheduler; nothing updates after it", s.name, at.call))
		return
	case !seam.Shared(y.w):
		y.w.Advance() // S4
	}
	switch {
	case !seam.Locked(y.w):
		y.left = false
	case !y.left && !at.locked:
		y.left = true
		y.keep(fmt.Errorf("system: %s left the world locked: %w", s.name, ErrLocked))
	}
}

// halt stops a running system outside of its turn: its group stops, or it is to be destroyed.
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

// expel marks a system and what is in it as gone, to be destroyed by the next sweep, the last
// created first (S7).
func (y *Systems) expel(s *State) {
	s.mark()
	y.leaving = append(y.leaving, s.newestFirst()...)
}

// drop destroys a system whose Create failed, with what is in it, now.
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

// sweep destroys what was removed. Where a goroutine ends in it, the next one does the rest.
func (y *Systems) sweep() {
	for len(y.leaving) > 0 {
		y.destroyNext()
	}
}

// destroyNext destroys the first of those that leave. All of it is done even when the goroutine
// ends in Stop or Destroy.
func (y *Systems) destroyNext() {
	y.complete()
	s := y.leaving[0]
	y.leaving = slices.Delete(y.leaving, 0, 1)
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

// end calls what OnDestroy was given, the last first, all of it even when the goroutine ends in
// one.
func (s *State) end() {
	if n := len(s.ends); n > 0 {
		f := s.ends[n-1]
		s.ends = s.ends[:n-1]
		defer s.end()
		s.visitFor("OnDestroy", func(*visit) { f() })
	}
}

// leave gives back what a system has.
func (s *State) leave() {
	s.release()
	if p, ok := s.system.(*Point); ok {
		p.drop()
	}
	s.y.forget(s)
	s.detach()
}

// newestFirst returns the system and all that is in it, the last created first.
func (s *State) newestFirst() (all []*State) {
	s.each(func(s *State) { all = append(all, s) })
	slices.SortFunc(all, func(a, b *State) int { return cmp.Compare(b.created, a.created) })
	return all
}

// detach lets a group or a command point be added again.
func (s *State) detach() {
	if s.y.root.state.gone {
		return // all is closed, and says so
	}
	if s.within != nil {
		*s.within = Group{rate: s.within.rate}
	}
	if p, ok := s.system.(*Point); ok {
		p.state = nil
	}
}

// each calls f for the system and all that is in it.
func (s *State) each(f func(*State)) {
	f(s)
	if s.within != nil {
		for _, c := range s.within.systems {
			c.each(f)
		}
	}
}

// forget takes a system out of the lists.
func (y *Systems) forget(s *State) {
	y.states = slices.DeleteFunc(y.states, func(t *State) bool { return t == s })
	if key, ok := identity(s.system); ok {
		delete(y.known, key)
	}
}
