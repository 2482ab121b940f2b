package system

import (
	"fmt"
	"slices"
	"strings"

	"quarry/ecs"
	"quarry/internal/seam"
)

// Ambiguity is two systems of one group of which one writes what the other uses, and nothing
// says which updates first: their order is that of adding.
type Ambiguity struct {
	Group         string
	First, Second string   // in the order of update
	Types         []string // components, and resources
}

// String prints it as one line.
func (a Ambiguity) String() string {
	return fmt.Sprintf("%s: %s and %s: %s", a.Group, a.First, a.Second, strings.Join(a.Types, ", "))
}

// uses is what a system and its jobs read and write.
type uses struct {
	access ecs.Access
	holds  []hold
}

// Ambiguities returns the pairs of systems whose order is not fixed, in any group, and whose
// access conflicts: what they declare by Query, Uses, jobs of For, Resource and
// ReadResource; that of a group is what its systems declare. Structural changes,
// and commands for one point, are not looked at. Cost: per pair.
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

// reach returns for each of a sorted list which of it must come before.
func (x *sorter) reach(order []*State) [][]bool {
	number := map[*State]int{}
	before := make([][]bool, len(order))
	for i, s := range order {
		number[s], before[i] = i, make([]bool, len(order))
		for _, t := range x.before[s] { // all of these are numbered: the list is sorted
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
	seam.Join(&u.access, &s.touches)
	for _, j := range s.lent {
		a := j.Access()
		seam.Join(&u.access, &a)
	}
	u.holds = append(u.holds, s.holds...)
}

// conflicts returns the names of what one writes and the other uses.
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
