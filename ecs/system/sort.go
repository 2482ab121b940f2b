package system

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Systems are placed by bucket (order.go), and within a bucket in the order of adding. Before a
// system is placed, all systems that it comes after are placed, in the same way (S3). This is a
// depth-first search; if its path meets itself, the path is the cycle.

// sorter is the state of one sort of a group.
type sorter struct {
	g      *Group
	at     map[string]*State
	before map[*State][]*State // for each system, those that come before it
	state  map[*State]int8
	path   []*State
	order  []*State
}

// States of a system in a sort.
const (
	unseen = iota
	onPath
	placed
)

// sort orders the systems of a group if they changed, and warns of orderings that cannot be kept.
func (g *Group) sort() {
	if !g.stale {
		return
	}
	x := newSorter(g)
	x.warn()
	list := slices.Clone(g.systems)
	if systems := g.state.y; systems.shuffled {
		r := rand.New(rand.NewPCG(systems.seed, g.state.created))
		r.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	}
	slices.SortStableFunc(list, func(a, b *State) int { return int(a.bucket) - int(b.bucket) })
	x.sort(list)
	g.order, g.stale = x.order, false // after warn: a logger may panic
}

// circle returns the names of systems that form a cycle, each before the next, with the first name
// repeated at the end. It returns nil if there is none. The system added last can close a cycle
// only if it comes after one system and before another; usually this check suffices, and a full
// sort, whose cost grows with the group, is skipped.
func (g *Group) circle(added *State) []string {
	if t := &g.targets; t.before == nil { // the first call, or a system was removed
		t.before, t.after = map[string]bool{}, map[string]bool{}
		for _, s := range g.systems {
			t.note(&s.placing)
		}
	}
	g.targets.note(&added.placing)
	behind := len(added.after) > 0 || g.targets.before[added.name]
	if !behind || len(added.before) == 0 && !g.targets.after[added.name] {
		return nil
	}
	x := newSorter(g)
	if x.sort(g.systems) {
		return nil
	}
	last := x.path[len(x.path)-1]
	x.path = x.path[slices.Index(x.path, last):]
	var names []string
	for _, s := range slices.Backward(x.path) {
		names = append(names, s.name)
	}
	return names
}

func newSorter(g *Group) *sorter {
	x := &sorter{g: g, at: map[string]*State{}, before: map[*State][]*State{}, state: map[*State]int8{}}
	for _, s := range g.systems {
		x.at[s.name] = s
	}
	for _, s := range g.systems {
		for _, name := range s.before {
			if t := x.at[name]; t != nil && t.bucket == s.bucket {
				x.before[t] = append(x.before[t], s)
			}
		}
		for _, name := range s.after {
			if t := x.at[name]; t != nil && t.bucket == s.bucket {
				x.before[s] = append(x.before[s], t)
			}
		}
	}
	return x
}

// sort places all systems of a list. If it returns false, the last system of the path was on the
// path before.
func (x *sorter) sort(list []*State) bool {
	for _, s := range list {
		if !x.place(s) {
			return false
		}
	}
	return true
}

func (x *sorter) place(s *State) bool {
	switch x.state[s] {
	case placed:
		return true
	case onPath:
		x.path = append(x.path, s)
		return false
	}
	x.state[s] = onPath
	x.path = append(x.path, s)
	for _, t := range x.before[s] {
		if !x.place(t) {
			return false
		}
	}
	x.path = x.path[:len(x.path)-1]
	x.state[s] = placed
	x.order = append(x.order, s)
	return true
}

// warn warns of targets that are not in the group, and of orderings that First and Last contradict.
func (x *sorter) warn() {
	for _, s := range x.g.systems {
		for _, name := range s.before {
			x.warnOf(s, "Before", name, -1)
		}
		for _, name := range s.after {
			x.warnOf(s, "After", name, 1)
		}
	}
}

// warnOf warns of one target if its ordering has no effect. side is -1 if s is to come before the
// target, else 1.
func (x *sorter) warnOf(s *State, option, name string, side int) {
	systems, t := x.g.state.y, x.at[name]
	switch other := systems.named[name]; {
	case t == nil && other == nil:
		systems.warn(fmt.Sprintf("%s: %s(%q) has no effect: there is no system of that name", s.place(), option, name))
	case t == nil:
		systems.warn(fmt.Sprintf(
			"%s: %s(%q) has no effect: that one is %s, and order holds inside a group: order the groups",
			s.place(), option, name, other.place()))
	case int(s.bucket-t.bucket)*side < 0:
		systems.warn(fmt.Sprintf("%s: %s(%q) has no effect: %s %v and %s %v",
			s.place(), option, name, s.name, s.bucket, t.name, t.bucket))
	}
}
