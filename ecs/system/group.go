package system

import (
	"fmt"
	"reflect"
	"runtime/pprof"
	"slices"
	"strings"
)

// Group is a system that updates others, in order. A struct that embeds a *Group from
// NewGroup and has an Update of its own is a group whose update is replaced:
//
//	type Substeps struct{ *system.Group }
//	func (g Substeps) Update(s *system.State) { for range 4 { g.Group.Update(s) } }
type Group struct {
	state   *State // its own; nil: not added
	systems []*State
	order   []*State // sorted; what a round goes through
	stale   bool     // systems changed since they were sorted
	targets targets
	rate    Rate
	inRound bool
}

// grouped is a *Group, or what embeds one.
type grouped interface{ group() *Group }

func (g *Group) group() *Group { return g }

// NewGroup makes a group, to be added to another one.
func NewGroup() *Group { return &Group{} }

// SetRate has the group update as a Rate says; nil: once a round of the group around it. In a
// round of the group it is for the next frame.
func (g *Group) SetRate(r Rate) {
	g.check("Group.SetRate")
	g.rate = r
}

// Systems returns the systems of the group, in the order of update.
func (g *Group) Systems() []*State {
	g.check("Group.Systems")
	g.sort()
	return slices.Clone(g.order)
}

// State returns the group's own state, to disable it, or nil when it was not added.
func (g *Group) State() *State {
	if g == nil {
		return nil
	}
	return g.state
}

// Add adds a system, under a name that no other has, and creates it. It may be called at any
// time by the world's owner; in a round of the group the system updates from the next one on. It
// panics with what TryAdd returns, and where TryAdd does.
func (g *Group) Add(name string, sys System, orderings ...Ordering) *State {
	s, err := g.TryAdd(name, sys, orderings...)
	if err != nil {
		panic(err)
	}
	return s
}

// TryAdd is Add. An error wraps ErrCycle and prints the path, or is what Create returned; nothing
// was added then. It panics when the name is empty or taken, when the system is nil or was added
// before, and for a group inside itself.
func (g *Group) TryAdd(name string, sys System, orderings ...Ordering) (*State, error) {
	const op = "Group.Add"
	g.check(op)
	s := g.newState(op, name, sys)
	for _, p := range orderings {
		p.apply(s)
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

// create calls Create; when that fails the system is taken out again.
func (s *State) create() (err error) {
	x, ok := s.system.(Creator)
	if !ok {
		return nil
	}
	y := s.y
	outermost, outer := y.take(), y.current
	y.current, s.inTurn, s.failed = s, true, true
	defer func() {
		y.current, s.inTurn = outer, false
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

// newState checks what is to be added.
func (g *Group) newState(op, name string, sys System) *State {
	y := g.state.y
	if g.state.gone {
		panic(fmt.Sprintf("system: %s: %s: group %s was removed", op, name, g.state.name))
	}
	if name == "" {
		panic("system: " + op + ": the name is empty")
	}
	if before := y.named[name]; before != nil {
		panic(fmt.Sprintf("system: %s: %s is added twice: there is one of that name in group %s", op, name, before.place()))
	}
	if v := reflect.ValueOf(sys); !v.IsValid() || (v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil() {
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
	s.timing.System = name
	s.labels = pprof.WithLabels(y.base, pprof.Labels("system", name))
	return s
}

// checkInside panics unless a group may be added to this one.
func (g *Group) checkInside(op, name string, within *Group) {
	if within == nil {
		panic("system: " + op + ": " + name + ": the group is nil; groups come from NewGroup, those that are embedded too")
	}
	for around := g; around != nil; around = around.state.group {
		if around == within {
			panic(fmt.Sprintf("system: %s: %s: group %s is inside itself", op, name, g.state.place()))
		}
	}
	if within.state != nil {
		panic(fmt.Sprintf("system: %s: %s: the group is added twice: it is %s", op, name, within.state.standing()))
	}
}

// standing says as what a system was added.
func (s *State) standing() string {
	if s.gone {
		return s.name + ", which was removed and is destroyed when this update ends"
	}
	return s.name + " already"
}

// identity returns what tells one system from another: pointers do, to something that has a size.
func identity(sys System) (key System, ok bool) {
	t := reflect.TypeOf(sys)
	return sys, t.Kind() == reflect.Pointer && t.Elem().Size() > 0
}

// place returns the path of a system from the root.
func (s *State) place() string {
	if s.group == nil {
		return s.name
	}
	return s.group.state.place() + "/" + s.name
}

// unlist takes a system out of its group.
func (g *Group) unlist(s *State) {
	g.systems = slices.DeleteFunc(g.systems, func(t *State) bool { return t == s })
	g.stale, g.targets = true, targets{}
}

// mark marks what is in the group as gone.
func (g *Group) mark() {
	for _, s := range g.systems {
		s.mark()
	}
}

// check panics for a group that is nil or was not added.
func (g *Group) check(op string) {
	if g == nil {
		panic("system: " + op + ": the group is nil; groups come from NewGroup")
	}
	if g.state == nil {
		panic("system: " + op + ": the group was not added to Systems; add it to its own group first")
	}
	g.state.check(op)
}

// Update runs the rounds that the group's rate says, one without a rate. s is the group's
// own state: what replaces the update calls this, as often as it likes. It panics outside of the
// group's own turn, and inside a round of it.
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
	rate := g.rate // another one that a system sets is for the next frame
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

// halt stops the group's systems, the last first. Those that were removed stop when they go.
func (g *Group) halt() {
	for _, s := range slices.Backward(g.order) {
		if !s.gone {
			s.halt()
		}
	}
}
