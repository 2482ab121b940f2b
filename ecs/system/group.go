package system

import (
	"errors"
	"fmt"
	"reflect"
	"runtime/pprof"
	"slices"
	"strings"

	"quarry/ecs/internal/door"
)

// Groups: systems are added to them, and updated in rounds.

// grouped is implemented by *Group and by types that embed one.
type grouped interface{ group() *Group }

func (g *Group) group() *Group { return g }

// NewGroup returns a group to be added to another group.
func NewGroup() *Group { return &Group{} }

// SetRate sets the rate of the group. Without a rate, or with nil, the group updates once per round
// of the enclosing group. A rate set during a round of the group applies from the next frame. A
// Fixed or Variable counts the rounds of one group: SetRate panics for that of another group.
func (g *Group) SetRate(r Rate) {
	g.check("Group.SetRate")
	o, counts := ownedBy(r)
	switch {
	case counts && o == nil:
		panic("system: Group.SetRate: the rate is nil or the zero value; rates come from NewFixed and NewVariable")
	case counts && o.of != nil && o.of != g:
		panic("system: Group.SetRate: the rate is that of another group; make one for each")
	}
	if old, _ := ownedBy(g.rate); old != nil {
		old.of = nil
	}
	if g.rate = r; counts {
		o.of = g
	}
}

// Systems returns the systems of the group, in the order of update.
func (g *Group) Systems() []*State {
	g.check("Group.Systems")
	g.sort()
	return slices.Clone(g.order)
}

// State returns the group's own state, for instance to disable the group. It returns nil before the
// group is added.
func (g *Group) State() *State {
	if g == nil {
		return nil
	}
	return g.state
}

// Add adds a system under a unique name and creates it. The world's owner may call it at any time;
// a system added during a round of the group updates from the next round on. Add panics with the
// error that TryAdd would return, and where TryAdd panics.
func (g *Group) Add(name string, sys System, orderings ...Ordering) *State {
	s, err := g.TryAdd(name, sys, orderings...)
	if err != nil {
		panic(err)
	}
	return s
}

// TryAdd is Add that returns an error: one that wraps ErrCycle and prints the path, the error from
// Create, or one that wraps ErrLocked, if Create left a Cursor without Close. After an error
// nothing is added. TryAdd panics if the name is empty or taken, if the system is nil or was added
// before, and for a group inside itself.
func (g *Group) TryAdd(name string, sys System, orderings ...Ordering) (*State, error) {
	const op = "Group.Add"
	g.check(op)
	s := g.newState(op, name, sys)
	for _, p := range orderings {
		p.apply(&s.placing, name)
	}
	y := s.y
	g.systems = append(g.systems, s)
	if path := g.circle(s); path != nil {
		g.systems = g.systems[:len(g.systems)-1]
		return nil, fmt.Errorf("system: Group.Add: %s: %w: %s", name, ErrCycle, strings.Join(path, " before "))
	}
	g.stale = true
	y.states, y.named[name] = append(y.states, s), s
	if key, ok := identity(sys); ok {
		y.known[key] = s
	}
	if s.within != nil {
		s.within.state = s
	}
	if x, ok := sys.(*Point); ok {
		x.attach(s)
	}
	if err := s.create(); err != nil {
		return nil, err
	}
	return s, nil
}

// create calls Create. If that fails, the system is taken out again.
func (s *State) create() (err error) {
	x, ok := s.system.(Creator)
	if !ok {
		return nil
	}
	y := s.y
	outermost, outer, locked := y.take(), y.current, door.Locked(y.w)
	y.current, s.inTurn, s.failed = s, true, true
	defer func() {
		y.current, s.inTurn = outer, false
		if !locked {
			if left := s.endCursors(); left != nil { // nobody sees it beside a panic
				err, s.failed = errors.Join(err, left), true
			}
		}
		if s.failed {
			y.drop(s)
		}
		if outermost {
			defer y.busy.Store(false)
			y.sweep()
		}
	}()
	if err := x.Create(s); err != nil {
		return fmt.Errorf("system: Group.Add: %s: Create: %w", s.name, err)
	}
	s.failed = false
	return nil
}

// newState checks a system that is about to be added, and returns its state.
func (g *Group) newState(op, name string, sys System) *State {
	y := g.state.y
	if g.state.gone {
		panic(fmt.Sprintf("system: %s: %s: group %s was removed", op, name, g.state.name))
	}
	if name == "" {
		panic("system: " + op + ": the name is empty")
	}
	if before := y.named[name]; before != nil {
		panic(fmt.Sprintf("system: %s: %s is added twice: there is one of that name in group %s",
			op, name, before.place()))
	}
	if v := reflect.ValueOf(sys); !v.IsValid() ||
		(v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil() {
		panic("system: " + op + ": " + name + ": the system is nil")
	}
	y.created++
	s := &State{y: y, name: name, system: sys, group: g, created: y.created}
	if x, ok := sys.(grouped); ok {
		s.within = x.group()
		g.checkInside(op, name, s.within)
	}
	if x, ok := sys.(*Point); ok && x.state != nil {
		panic(fmt.Sprintf("system: %s: %s: the command point is added twice: it is %s", op, name, x.state.standing()))
	}
	if key, ok := identity(sys); ok && y.known[key] != nil {
		panic(fmt.Sprintf("system: %s: %s: the system is added twice: it is %s", op, name, y.known[key].standing()))
	}
	s.timing.System, s.timing.Depth = name, g.state.timing.Depth+1
	s.labels = pprof.WithLabels(y.base, pprof.Labels("system", name))
	return s
}

// checkInside panics unless the group within may be added to g.
func (g *Group) checkInside(op, name string, within *Group) {
	if within == nil {
		panic("system: " + op + ": " + name +
			": the group is nil; groups come from NewGroup, those that are embedded too")
	}
	if within.state == nil {
		return // and not around g: those groups were added
	}
	for around := g; around != nil; around = around.state.group {
		if around == within {
			panic(fmt.Sprintf("system: %s: %s: group %s is inside itself", op, name, g.state.place()))
		}
	}
	panic(fmt.Sprintf("system: %s: %s: the group is added twice: it is %s", op, name, within.state.standing()))
}

// Update runs the rounds that the group's rate asks for, or one round without a rate. s is the
// group's own state. An Update that replaces this one calls it as often as it likes. Update panics
// outside of the group's own turn, and inside a round of the group.
func (g *Group) Update(s *State) {
	g.check("Group.Update")
	if s != g.state {
		panic("system: Group.Update: the state is not that of group " + g.state.name)
	}
	s.checkTurn("Group.Update")
	if g.inRound {
		panic("system: Group.Update: inside a round of group " + g.state.name + " itself")
	}
	g.inRound = true
	outer := s.y.now
	defer func() { g.inRound, s.y.now = false, outer }()
	if g.rate == nil {
		g.round()
		return
	}
	rate := g.rate // SetRate in a round applies to the next frame
	for n := 0; ; n++ {
		t, ok := rate.Next(outer, n)
		if !ok {
			return
		}
		s.y.now = t
		g.round()
	}
}

// round updates each system once.
func (g *Group) round() {
	g.sort()
	order := g.order
	for _, s := range order {
		s.turn()
	}
}
