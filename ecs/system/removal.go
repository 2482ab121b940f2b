package system

import (
	"cmp"
	"reflect"
	"slices"
)

// Removed systems are marked at once, and destroyed by the next sweep (S7).

// mark marks a system and everything in it as gone.
func (s *State) mark() {
	s.gone = true
	delete(s.y.named, s.name)
	if s.within != nil {
		s.within.mark()
	}
}

// mark marks everything in the group as gone.
func (g *Group) mark() {
	for _, s := range g.systems {
		s.mark()
	}
}

// unlist takes a system out of its group.
func (g *Group) unlist(s *State) {
	g.systems = slices.DeleteFunc(g.systems, func(t *State) bool { return t == s })
	g.stale, g.targets = true, targets{}
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

// forget removes a system from the lists of Systems.
func (y *Systems) forget(s *State) {
	at, ok := slices.BinarySearchFunc(y.states, s.created, func(t *State, number uint64) int {
		return cmp.Compare(t.created, number)
	})
	if ok { // no, if a Goexit ended the call before
		y.states = slices.Delete(y.states, at, at+1)
	}
	if key, ok := identity(s.system); ok {
		delete(y.known, key)
	}
}

// identity returns a key that distinguishes systems. Only pointers to a type with a size have one.
func identity(sys System) (key System, ok bool) {
	t := reflect.TypeOf(sys)
	return sys, t.Kind() == reflect.Pointer && t.Elem().Size() > 0
}
