package system_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/ecs"
	"quarry/ecs/command"
	"quarry/ecs/system"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

// Streams of operations on lives: systems and groups that come, go, are switched and require
// something, from outside and from inside of each call of a system, with calls that panic, and
// commands that are played once. The same script runs on Systems and on a slow model of them, drawn
// from the same seed, and both must have seen the same.

// lives is what a script acts on: Systems, or the model.
type lives interface {
	add(group, name string)
	remove(name string)
	enable(name string, on bool)
	toggle()                    // makes what some systems require, or destroys it
	record(name string, id int) // a command of the system
	live() []string             // names, groups before what is in them, in the order of update
	step()
	close()
}

// The name of a system has its kind: the number decides.
func isGroup(name string) bool   { return number(name)%3 == 0 }
func requires(name string) bool  { return number(name)%4 == 1 }
func bucketOf(name string) int   { return []int{0, 0, 1, 0, -1}[number(name)%5] }
func roundsOf(name string) int   { return 1 + number(name)%2 }
func refuses(name string) bool   { return number(name)%11 == 7 }
func number(name string) (n int) { fmt.Sscanf(name, "s%d", &n); return n }

// script is a stream of operations, and what was seen of them.
type script struct {
	rng     *rand.Rand
	on      lives
	names   int
	ids     int
	closing bool
	seen    []string
}

var errRefused = errors.New("refused")

// call is what happens inside a call into a system: operations, and perhaps a panic.
func (s *script) call(what, name string) {
	s.seen = append(s.seen, what+":"+name)
	for s.rng.IntN(5) == 0 {
		s.operate(name)
	}
	if s.rng.IntN(4) == 0 && !s.closing {
		s.ids++
		s.on.record(name, s.ids)
	}
	if s.rng.IntN(25) == 0 {
		panic("script")
	}
}

// operate does one thing; self is the system that does it, or empty.
func (s *script) operate(self string) {
	names := s.on.live()
	target := self
	if len(names) > 0 && (self == "" || s.rng.IntN(3) > 0) {
		target = names[s.rng.IntN(len(names))]
	}
	alive := slices.Contains(names, target)
	switch op := s.rng.IntN(8); {
	case op < 3 && len(names) < 12 && !s.closing:
		group := ""
		if alive && isGroup(target) {
			group = target
		}
		s.names++
		name := fmt.Sprint("s", s.names)
		s.attempt(func() { s.on.add(group, name) })
	case op < 5 && alive:
		s.seen = append(s.seen, "remove:"+target)
		s.on.remove(target)
	case op < 6 && alive:
		s.on.enable(target, s.rng.IntN(3) > 0)
	case op < 7:
		s.on.toggle()
	}
}

// attempt calls what panics where the script made it so.
func (s *script) attempt(f func()) {
	defer func() {
		if v := recover(); v != nil && v != "script" && v != any(errRefused) {
			panic(v)
		}
	}()
	f()
}

func (s *script) run(steps int) {
	for range steps {
		for range s.rng.IntN(4) {
			s.operate("")
		}
		s.on.step()
		s.seen = append(s.seen, fmt.Sprint(s.on.live()))
	}
	s.closing = true
	s.on.close()
}

// TestStreamOfLives compares. A stream has 30 frames and some 300 events, so few have all kinds.
func TestStreamOfLives(t *testing.T) {
	seeds, events := uint64(long.N(15, 100)), 0
	for seed := range seeds {
		model := &script{rng: rand.New(rand.NewPCG(seed, 1))}
		model.on = newModelLives(model)
		model.run(30)
		systems := &script{rng: rand.New(rand.NewPCG(seed, 1))}
		x := newRealLives(t, systems)
		systems.on = x
		systems.run(30)
		require.NoError(t, x.w.Verify())
		require.NoError(t, x.w.Close())
		for i := range min(len(model.seen), len(systems.seen)) {
			require.Equal(t, model.seen[i], systems.seen[i], "seed %d, event %d, after %v",
				seed, i, systems.seen[max(0, i-30):i])
		}
		require.Equal(t, len(model.seen), len(systems.seen), "seed %d", seed)
		events += len(systems.seen)
	}
	t.Logf("%d streams, %d events", seeds, events)
}

// realLives are Systems.
type realLives struct {
	s       *script
	t       *testing.T
	w       *ecs.World
	systems *system.Systems
	health  ecs.Component[health]
	log     ecs.Buffer[int64] // the commands that were played
	logged  ecs.Entity
	needed  *ecs.Query
	mark    ecs.Entity
	pool    []*system.Group // of groups that were destroyed
	states  map[string]*system.State
	groups  map[string]*system.Group
}

func newRealLives(t *testing.T, s *script) *realLives {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	x := &realLives{s: s, t: t, w: w, systems: system.New(w), health: ecs.Register[health](w),
		log:    ecs.RegisterBuffer[int64](w),
		states: map[string]*system.State{}, groups: map[string]*system.Group{}}
	x.logged = ecs.NewArchetype(w, x.log).Create()
	x.needed = ecs.NewQuery(w, ecs.With(x.health))
	return x
}

// scripted is a system of a stream.
type scripted struct {
	x    *realLives
	name string
}

func (c *scripted) Create(s *system.State) error {
	c.x.states[c.name] = s
	if requires(c.name) {
		s.Require(c.x.needed)
	}
	s.Query(ecs.Read(c.x.health), ecs.Changed(c.x.health))
	c.x.s.call("create", c.name)
	if refuses(c.name) {
		return errRefused
	}
	return nil
}
func (c *scripted) Start(*system.State)   { c.x.s.call("start", c.name) }
func (c *scripted) Update(*system.State)  { c.x.s.call("update", c.name) }
func (c *scripted) Stop(*system.State)    { c.x.s.call("stop", c.name) }
func (c *scripted) Destroy(*system.State) { c.x.s.call("destroy", c.name) }

// scriptedGroup is a group of a stream.
type scriptedGroup struct {
	*system.Group
	scripted
}

func (c *scriptedGroup) Update(s *system.State) {
	c.x.s.call("update", c.name)
	for range roundsOf(c.name) {
		c.Group.Update(s)
	}
}

func (c *scriptedGroup) Destroy(s *system.State) {
	c.x.pool = append(c.x.pool, c.Group)
	c.scripted.Destroy(s)
}

// group returns one that was destroyed, or a new one.
func (x *realLives) group() *system.Group {
	for i, g := range x.pool {
		if g.State() == nil {
			x.pool = slices.Delete(x.pool, i, i+1)
			return g
		}
	}
	return system.NewGroup()
}

func (x *realLives) add(group, name string) {
	to := x.systems.Simulation()
	if group != "" {
		to = x.groups[group]
	}
	var sys system.System = &scripted{x: x, name: name}
	if isGroup(name) {
		x.groups[name] = x.group()
		sys = &scriptedGroup{Group: x.groups[name], scripted: scripted{x: x, name: name}}
	}
	orderings := map[int][]system.Ordering{-1: {system.First()}, 0: nil, 1: {system.Last()}}[bucketOf(name)]
	if _, err := to.TryAdd(name, sys, orderings...); err != nil {
		require.ErrorIs(x.t, err, errRefused)
	}
}

func (x *realLives) remove(name string) { x.systems.Find(name).Remove() }

func (x *realLives) enable(name string, on bool) {
	if on {
		x.systems.Find(name).Enable()
	} else {
		x.systems.Find(name).Disable()
	}
}

func (x *realLives) toggle() {
	if !x.w.Destroy(x.mark) {
		x.mark = ecs.NewArchetype(x.w, x.health).Create()
	}
}

func (x *realLives) record(name string, id int) {
	command.Append(x.states[name].Commands(x.systems.EndSimulation()), x.logged, x.log, int64(id))
}

func (x *realLives) live() (names []string) {
	for _, timing := range x.systems.Timings() {
		if name := timing.System; number(name) > 0 && x.systems.Find(name) != nil {
			names = append(names, name)
		}
	}
	return names
}

func (x *realLives) step() {
	err := x.systems.Step(frame)
	var failed *command.PlayError
	require.False(x.t, errors.As(err, &failed), "%v", err)
	x.s.seen = append(x.s.seen, fmt.Sprint("played ", x.log.Slice(x.logged)))
	played, _ := x.log.Mut(x.logged)
	played.CopyFrom(nil)
}

func (x *realLives) close() { _ = x.systems.Close() }
