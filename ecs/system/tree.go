package system

import (
	"fmt"
	"strings"
)

// The systems as a tree: groups, and the systems in them.

// Timing returns the Timing of the system's updates.
func (s *State) Timing() Timing { return s.timing }

// Timings returns the Timing of each system, in the order of update, each group before its systems.
func (s *Systems) Timings() []Timing {
	s.check("Systems.Timings")
	var list []Timing
	s.walk(func(t *State) { list = append(list, t.Timing()) })
	return list
}

// walk calls f for all systems in the order of update, each group before its systems.
func (s *Systems) walk(f func(*State)) {
	var visit func(t *State)
	visit = func(t *State) {
		f(t)
		if t.within != nil {
			t.within.sort()
			for _, c := range t.within.order {
				visit(c)
			}
		}
	}
	visit(s.root.state)
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

// String lists the systems in the order of update, with their kinds and numbers of updates.
func (s *Systems) String() string {
	if s == nil || s.w == nil || s.closed {
		return "systems that are closed\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-28s %-14s %s\n", "system", "kind", "updates")
	s.walk(func(t *State) {
		state := ""
		if t.disabled {
			state = ", disabled"
		}
		fmt.Fprintf(&b, "%-28s %-14s %7d%s\n",
			strings.Repeat("  ", t.timing.Depth)+t.name, t.kind(), t.timing.Updates, state)
	})
	return b.String()
}

func (s *State) kind() string {
	switch _, point := s.system.(*Point); {
	case point:
		return "command point"
	case s.within != nil:
		return "group"
	}
	return "system"
}
