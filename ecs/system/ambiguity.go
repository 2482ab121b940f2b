package system

import (
	"fmt"
	"slices"
	"strings"

	"quarry/ecs"
	"quarry/ecs/internal/door"
)

// Ambiguity is a pair of systems in one group whose access conflicts, and whose order only follows
// from the order of adding.
type Ambiguity struct {
	Group         string
	First, Second string   // in the order of update
	Types         []string // conflicting components and resources
}

// String returns the ambiguity as one line of text.
func (a Ambiguity) String() string {
	return fmt.Sprintf("%s: %s and %s: %s", a.Group, a.First, a.Second, strings.Join(a.Types, ", "))
}

// uses is the reads and writes of a system and its jobs.
type uses struct {
	access ecs.Access
	holds  []hold
}

// Ambiguities returns, for all groups, the pairs of systems whose access conflicts and whose order
// is not fixed. Access is what a system declares by Query, Uses, For, Resource and ReadResource; a
// group has the access of all its systems. Structural changes, and commands for the same point, are
// not considered. Cost: proportional to the number of pairs.
func (s *Systems) Ambiguities() []Ambiguity {
	s.check("Systems.Ambiguities")
	var found []Ambiguity
	s.walk(func(t *State) {
		if t.within != nil {
			found = append(found, t.within.ambiguities()...)
		}
	})
	return found
}

func (g *Group) ambiguities() (found []Ambiguity) {
	g.sort()
	all := make([]uses, len(g.order))
	for i, s := range g.order {
		s.each(func(t *State) { all[i].join(t) })
	}
	before := newSorter(g).reach(g.order)
	for i, a := range g.order {
		for k, b := range g.order[i+1:] {
			k += i + 1
			if a.bucket != b.bucket || before[k][i] {
				continue
			}
			if types := all[i].conflicts(&all[k], g.state.y.w); len(types) > 0 {
				found = append(found, Ambiguity{Group: g.state.name, First: a.name, Second: b.name, Types: types})
			}
		}
	}
	return found
}

// reach returns, for each system of a sorted list, which systems of the list must come before it.
func (x *sorter) reach(order []*State) [][]bool {
	number := map[*State]int{}
	before := make([][]bool, len(order))
	for i, s := range order {
		number[s], before[i] = i, make([]bool, len(order))
		for _, t := range x.before[s] { // numbered already: the list is sorted
			k := number[t]
			before[i][k] = true
			for n, earlier := range before[k] {
				before[i][n] = before[i][n] || earlier
			}
		}
	}
	return before
}

func (u *uses) join(s *State) {
	door.Join(&u.access, &s.touches)
	for _, j := range s.lent {
		a := j.Access()
		door.Join(&u.access, &a)
	}
	u.holds = append(u.holds, s.holds...)
}

// conflicts returns the names of types and resources that one of the two writes and the other uses.
func (u *uses) conflicts(v *uses, w *ecs.World) []string {
	types := w.Conflicts(u.access, v.access)
	for _, a := range u.holds {
		for _, b := range v.holds {
			if name := a.r.of.String(); a.r == b.r && (a.write || b.write) && !slices.Contains(types, name) {
				types = append(types, name)
			}
		}
	}
	return types
}
