package system

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Ordering says where in its group a system updates.
type Ordering struct {
	bucket        bucket
	before, after []string
}

// placing is what the Orderings of a system say together.
type placing = Ordering

// bucket is a part of a group: all of one update before all of the next.
type bucket int8

const (
	bucketOpens  bucket = iota - 2 // the command point that begins a default group
	bucketFirst                    // First
	bucketNormal                   // 0: neither
	bucketLast                     // Last
	bucketCloses                   // the command point that ends a default group
)

var bucketNames = [...]string{"opens the group", "is First", "is neither First nor Last", "is Last", "closes the group"}

func (b bucket) String() string { return bucketNames[b-bucketOpens] }

// Before has the system update before others of its group. Systems that are not there, or
// are in another group, are warned of and nothing else: see Systems.Warnings.
func Before(names ...string) Ordering { return Ordering{before: names} }

// After has the system update after others of its group, as Before.
func After(names ...string) Ordering { return Ordering{after: names} }

// First has the system update before all of its group that are not First, but for the command
// point that begins a default group. Before and After hold among those that are First.
func First() Ordering { return Ordering{bucket: bucketFirst} }

// Last has the system update after all of its group that are not Last, but for the command
// point that ends a default group.
func Last() Ordering { return Ordering{bucket: bucketLast} }

// apply adds a placing to those of a system.
func (p Ordering) apply(s *State) {
	if p.bucket != bucketNormal {
		if s.bucket != bucketNormal && s.bucket != p.bucket {
			panic("system: Group.Add: " + s.name + ": it cannot be First and Last")
		}
		s.bucket = p.bucket
	}
	s.before = append(s.before, p.before...)
	s.after = append(s.after, p.after...)
}

// Each system is put behind all that it comes after, the systems in the order of adding; what
// it comes after is put there first, in the same way (S3). That is a search in depth, whose path
// is the circle when it meets itself.

// sorter is a sort of a group under way.
type sorter struct {
	g      *Group
	at     map[string]*State
	before map[*State][]*State // those that a system comes after
	state  map[*State]int8
	path   []*State
	order  []*State
}

// What a sorter knows of a system.
const (
	unseen = iota
	onPath
	placed
)

// sort puts the systems of a group in order, if they changed, and warns of orders that cannot
// be kept.
func (g *Group) sort() {
	if !g.stale {
		return
	}
	x := newSorter(g)
	x.warn()
	list := slices.Clone(g.systems)
	if y := g.state.y; y.shuffled {
		r := rand.New(rand.NewPCG(y.seed, g.state.created))
		r.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	}
	slices.SortStableFunc(list, func(a, b *State) int { return int(a.bucket) - int(b.bucket) })
	x.sort(list)
	g.order, g.stale = x.order, false // behind warn: a logger may panic
}

// targets are the names that systems of a group were told to come before, and after.
type targets struct{ before, after map[string]bool }

func (t *targets) note(s *State) {
	for _, name := range s.before {
		t.before[name] = true
	}
	for _, name := range s.after {
		t.after[name] = true
	}
}

// circle returns names of systems, each to come before the next and the last before the
// first, which stands at both ends; nil when there is no such circle. One that was added last
// can close it when it comes behind one and before another: that alone is looked at for most,
// since the rest costs as much as all systems of the group.
func (g *Group) circle(added *State) []string {
	if t := &g.targets; t.before == nil { // the first, or one went
		t.before, t.after = map[string]bool{}, map[string]bool{}
		for _, s := range g.systems {
			t.note(s)
		}
	}
	g.targets.note(added)
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

// sort places all of a list. When it returns false, the path leads to a system that is on it
// already.
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

// warn warns of targets that are not in the group, and of orders that First and Last contradict.
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

// warnOf warns of one target, when there is reason to; side is -1 where s is to come before
// it, else 1.
func (x *sorter) warnOf(s *State, option, name string, side int) {
	y, t := x.g.state.y, x.at[name]
	switch other := y.named[name]; {
	case t == nil && other == nil:
		y.warn(fmt.Sprintf("%s: %s(%q) has no effect: there is no system of that name", s.place(), option, name))
	case t == nil:
		y.warn(fmt.Sprintf("%s: %s(%q) has no effect: that one is %s, and order holds inside a group: order the groups",
			s.place(), option, name, other.place()))
	case int(s.bucket-t.bucket)*side < 0:
		y.warn(fmt.Sprintf("%s: %s(%q) has no effect: %s %v and %s %v", s.place(), option, name, s.name, s.bucket, t.name, t.bucket))
	}
}
