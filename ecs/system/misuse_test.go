package system_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/job"
	"quarry/ecs/system"

	"github.com/stretchr/testify/require"
)

func TestMisuseOfAdd(t *testing.T) {
	s := newStage(t)
	j := &journal{s: s}
	s.systems.Add("j", j)
	group := system.NewGroup()
	inner := system.NewGroup()
	s.systems.Add("group", group)
	group.Add("inner", inner)
	unadded := system.NewGroup()
	point := system.NewPoint()
	s.systems.Presentation().Add("point", point)
	var none context.Context
	for want, f := range map[string]func(){
		"system: Group.Add: j is added twice: there is one of that name in group root/Simulation/j": func() { group.Add("j", s.update()) },
		"system: Group.Add: k: the system is added twice: it is j already":                          func() { group.Add("k", j) },
		"system: Group.Add: group is added twice: there is one of that name in group root/Simulation/group": func() {
			s.systems.Add("group", group)
		},
		"system: Group.Add: other: the group is added twice: it is group already":        func() { s.systems.Add("other", group) },
		"system: Group.Add: self: group root/Simulation/group is inside itself":          func() { group.Add("self", group) },
		"system: Group.Add: deep: group root/Simulation/group/inner is inside itself":    func() { inner.Add("deep", group) },
		"system: Group.Add: wrapped: group root/Simulation/group/inner is inside itself": func() { inner.Add("wrapped", &substeps{Group: group}) },
		"system: Group.Add: p: the command point is added twice: it is point already":    func() { group.Add("p", point) },
		"system: Group.Add: the name is empty":                                           func() { group.Add("", s.update()) },
		"system: Group.Add: n: the system is nil":                                        func() { group.Add("n", nil) },
		"system: Group.Add: f: the system is nil":                                        func() { group.Add("f", system.Func(nil)) },
		"system: Group.Add: jn: the system is nil":                                       func() { group.Add("jn", (*journal)(nil)) },
		"system: Group.Add: gn: the group is nil; groups come from NewGroup, those that are embedded too": func() {
			group.Add("gn", &substeps{})
		},
		"system: Group.Add: the group was not added to Systems; add it to its own group first": func() {
			unadded.Add("x", s.update())
		},
		"system: Group.Add: the group is nil; groups come from NewGroup": func() { (*system.Group)(nil).Add("x", s.update()) },
		"system: Group.Add: both: it cannot be First and Last":           func() { group.Add("both", s.update(), system.First(), system.Last()) },
		"system: Make: the function is nil":                              func() { group.Add("m", system.Make(nil)) },
		"system: Make: the function for m returned nil; it returns what is called in each update": func() {
			group.Add("m", system.Make(func(*system.State) func() { return nil }))
		},
		"system: State.Remove: Simulation is one of the defaults; Disable it":    func() { s.systems.Simulation().State().Remove() },
		"system: State.Remove: EndSimulation is one of the defaults; Disable it": func() { s.systems.Find("EndSimulation").Remove() },
		"system: Group.Update: the state is not that of group group":             func() { group.Update(s.systems.Find("inner")) },
		"system: Point.Update: the state is not that of point point":             func() { point.Update(s.systems.Find("inner")) },
		"system: State.Commands: j: the command point is nil, was removed, or was not added to these systems": func() {
			s.systems.Find("j").Commands(nil)
		},
		"system: State.Commands: j: the command point is nil, was removed, or was not added to these systems ": func() {
			s.systems.Find("j").Commands(system.NewPoint())
		},
		"system: Point.Update: the state is not that of point command point":                  func() { system.NewPoint().Update(nil) },
		"system: State.Require: j: no query is given":                                         func() { s.systems.Find("j").Require() },
		"system: State.Query: the state is nil or the zero value; states come from Group.Add": func() { s.systems.Find("nobody").Query() },
		"system: NewFixed(0s, 1): both must be positive":                                      func() { system.NewFixed(0, 1) },
		"system: NewFixed(1s, 0): both must be positive":                                      func() { system.NewFixed(time.Second, 0) },
		"system: NewVariable(2s, 1s): the interval must be positive, and the most no less":    func() { system.NewVariable(2*time.Second, time.Second) },
		"system: MaxDelta(0s): it must be positive":                                           func() { system.MaxDelta(0) },
		"system: Systems.Step(-1ns): time does not go back":                                   func() { _ = s.systems.Step(-1) },
		"system: Clock: the function is nil":                                                  func() { system.Clock(nil) },
		"system: Logger: the logger is nil; slog.DiscardHandler makes a silent one":           func() { system.Logger((*slog.Logger)(nil)) },
		"system: Context: the context is nil":                                                 func() { system.Context(none) },
		"system: WithScheduler: the scheduler is nil":                                         func() { system.WithScheduler(nil) },
	} {
		for len(want) > 0 && want[len(want)-1] == ' ' {
			want = want[:len(want)-1]
		}
		require.PanicsWithValue(t, want, f)
	}
	s.step()
	require.Equal(t, "create:j start:j j", s.take(), "nothing of that was added")
	require.Len(t, s.systems.Timings(), 16)
}

func TestMisuseOfWorlds(t *testing.T) {
	require.PanicsWithValue(t, "system: New: the world is nil", func() { system.New(nil) })
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	other, err := ecs.NewWorld()
	require.NoError(t, err)
	jobs := job.NewScheduler(other)
	require.PanicsWithValue(t, "system: New: the scheduler is of another world",
		func() { system.New(w, system.WithScheduler(jobs)) })
	require.PanicsWithValue(t, "system: New: Jobs and WithScheduler exclude each other: the scheduler exists already",
		func() { system.New(other, system.WithScheduler(jobs), system.Jobs(job.Workers(1))) })
	require.Panics(t, func() { system.New(other) }, "it has a scheduler")
	systems := system.New(other, system.WithScheduler(jobs))
	x := systems.Add("x", system.Func(func(*system.State) {}))
	position := ecs.Register[position](w)
	require.PanicsWithValue(t, "system: State.Require: x: query(Read position) is nil, closed, or of another world",
		func() { x.Require(ecs.NewQuery(w, ecs.Read(position))) })
	require.Panics(t, func() { x.Query(ecs.Read(position)) })
	require.Panics(t, func() { x.Uses(ecs.Read(position)) })
	require.Panics(t, func() { x.For(ecs.NewQuery(w, ecs.Read(position))) })
	require.NoError(t, systems.Update())
	require.NoError(t, systems.Close())
	require.NoError(t, jobs.Complete(), "its owner's still")
	again := system.New(other, system.WithScheduler(jobs))
	require.NoError(t, again.Close())
	require.NoError(t, jobs.Close())
	require.NoError(t, other.Close())
	require.PanicsWithValue(t, "system: New: the world is closed", func() { system.New(other) })

	systems = system.New(w)
	ran := 0
	state := systems.Add("x", system.Func(func(*system.State) { ran++ }))
	state.Query(ecs.Read(position))
	require.NoError(t, w.Close())
	require.PanicsWithValue(t, "system: Systems.Update: the world is closed; Systems.Close comes before World.Close",
		func() { _ = systems.Update() })
	require.PanicsWithValue(t, "system: Systems.Step: the world is closed; Systems.Close comes before World.Close",
		func() { _ = systems.Step(0) })
	require.NoError(t, systems.Close())
	require.Zero(t, ran)
	for want, f := range map[string]func(){
		"system: Systems.Update: the systems are closed":                                    func() { _ = systems.Update() },
		"system: Systems.Add: the systems are closed":                                       func() { systems.Add("y", system.NewGroup()) },
		"system: Group.Add: Simulation: the systems are closed":                             func() { systems.Simulation().Add("y", system.NewGroup()) },
		"system: State.Disable: x: the systems are closed":                                  func() { state.Disable() },
		"system: Systems.Update: the systems are nil or the zero value; they come from New": func() { _ = (*system.Systems)(nil).Update() },
	} {
		require.PanicsWithValue(t, want, f)
	}
}

// An update inside a system is that system's panic; one in another goroutine panics there.
func TestMisuseUpdateTwice(t *testing.T) {
	s := newStage(t)
	const text = "system: Systems.Step: an update is under way: it is inside a system, or in another goroutine"
	s.systems.Add("nested", system.Func(func(*system.State) {
		require.PanicsWithValue(t, text, func() { _ = s.systems.Step(0) })
		require.Panics(t, func() { _ = s.systems.Close() })
		var wg sync.WaitGroup
		wg.Go(func() { require.PanicsWithValue(t, text, func() { _ = s.systems.Step(0) }) })
		wg.Wait()
		s.note("ran")
	}))
	s.step()
	require.Equal(t, "ran", s.take())

	group := system.NewGroup()
	s.systems.Add("group", group)
	group.Add("inside", system.Func(func(*system.State) {
		require.PanicsWithValue(t, "system: Group.Update: inside a round of group group itself",
			func() { group.Update(group.State()) })
		s.note("inside")
	}))
	s.step()
	require.Equal(t, "ran inside", s.take())
}

// An update inside a loop over rows, or while the world is lent, panics before anything ran.
func TestMisuseUpdateInALoop(t *testing.T) {
	s := newStage(t)
	s.systems.Add("x", s.update())
	ecs.NewArchetype(s.w, s.health).Create()
	q := ecs.NewQuery(s.w, ecs.Read(s.health))
	for range q.Rows() {
		require.PanicsWithValue(t, "system: Systems.Step: a loop over rows or a loan is under way; end it first",
			func() { s.step() })
	}
	p := s.w.Lend()
	require.Panics(t, func() { s.step() })
	p.End()
	require.Empty(t, s.take())
	s.step()
	require.Equal(t, "x", s.take())
}

// A system that leaves a borrow open is named; the error comes once, from that one.
func TestMisuseWorldLeftLocked(t *testing.T) {
	s := newStage(t)
	var p *ecs.Borrow
	s.systems.Add("a", s.update())
	s.systems.Add("leaves", system.Func(func(*system.State) { p = s.w.Lend() }))
	changes := s.systems.Add("changes", system.Make(func(x *system.State) func() {
		q := x.Query(ecs.Read(s.health), ecs.Changed(s.health))
		return func() { s.note("%d", q.Count()) }
	}))
	s.systems.Add("b", s.update())
	err := s.systems.Step(frame)
	p.End()
	require.ErrorIs(t, err, system.ErrLocked)
	require.ErrorContains(t, err,
		"system: leaves left the world locked: a loop or a borrow that it began was not ended")
	require.NotContains(t, err.Error(), "panicked")
	require.Equal(t, uint64(1), changes.Timing().Updates)
	require.Equal(t, "a 0 b", s.take())
	err = s.systems.Step(frame)
	p.End()
	require.ErrorContains(t, err, "system: leaves left the world locked", "each time")
	s.take()
	s.systems.Find("leaves").Remove()
	s.step()
}

// inLoop is a group that updates its systems inside a loop of its own.
type inLoop struct {
	*system.Group
	q *ecs.Query
}

func (g *inLoop) Update(s *system.State) {
	for range g.q.Rows() {
		g.Group.Update(s)
	}
}

// A system that finds the world locked is not the one that locked it.
func TestUpdateInALoopOfTheGroup(t *testing.T) {
	s := newStage(t)
	ecs.NewArchetype(s.w, s.health).Create()
	g := &inLoop{Group: system.NewGroup(), q: ecs.NewQuery(s.w, ecs.Read(s.health))}
	s.systems.Add("group", g)
	g.Add("inner", s.update())
	s.step()
	require.Equal(t, "inner", s.take())
}

func TestMisuseOfRemoved(t *testing.T) {
	s := newStage(t)
	x := s.systems.Add("x", s.update())
	q := x.Query(ecs.Read(s.health))
	x.Remove()
	require.PanicsWithValue(t, "system: State.Query: x was removed", func() { x.Query() })
	require.PanicsWithValue(t, "system: State.Enable: x was removed", func() { x.Enable() })
	require.PanicsWithValue(t, "ecs: Query.Count: query(Read health) is closed", func() { q.Count() })
	require.PanicsWithValue(t,
		"system: State.Dependency: the state is nil; Systems.Find returns that for names that are not there",
		func() { s.systems.Find("x").Dependency() })
	group := system.NewGroup()
	g := s.systems.Add("group", group)
	inner := group.Add("inner", s.update())
	g.Remove()
	require.Equal(t, "inner", inner.Timing().System, "those who keep it may ask")
	require.PanicsWithValue(t, "system: State.Disable: inner was removed", func() { inner.Disable() })
	require.PanicsWithValue(t,
		"system: Group.SetRate: the group was not added to Systems; add it to its own group first",
		func() { group.SetRate(nil) })
}

// TestMisuseRates: a rate counts the rounds of one group, until that has another; it must have been
// made.
func TestMisuseRates(t *testing.T) {
	s := newStage(t)
	one, two := system.NewGroup(), system.NewGroup()
	s.systems.Add("one", one)
	s.systems.Add("two", two)
	for _, rate := range []system.Rate{system.NewFixed(time.Second, 4), system.NewVariable(time.Second, time.Second)} {
		one.SetRate(rate)
		one.SetRate(rate)
		require.PanicsWithValue(t, "system: Group.SetRate: the rate is that of another group; make one for each",
			func() { two.SetRate(rate) })
		one.SetRate(nil)
		two.SetRate(rate)
	}
	for _, rate := range []system.Rate{(*system.Fixed)(nil), &system.Fixed{}, (*system.Variable)(nil),
		&system.Variable{}} {
		require.PanicsWithValue(t,
			"system: Group.SetRate: the rate is nil or the zero value; rates come from NewFixed and NewVariable",
			func() { one.SetRate(rate) })
	}
}

func TestMisuseTooMuchTime(t *testing.T) {
	s := newStage(t)
	s.step()
	require.PanicsWithValue(t,
		"system: Systems.Step(2562047h47m16.854775807s): behind 16.666666ms that is more than 292 years",
		func() { _ = s.systems.Step(1<<63 - 1) })
	s.step()
	require.Equal(t, system.Time{Elapsed: 2 * frame, Delta: frame, Frame: 2}, s.systems.Time())
}

// Terms that are wrong leave what was declared before as it was.
func TestMisuseOfUses(t *testing.T) {
	s := newStage(t)
	x := s.systems.Add("x", s.update())
	x.Uses(ecs.Read(s.health))
	require.Panics(t, func() { x.Uses(ecs.Read(s.health), ecs.Write(s.health)) })
	x.Uses(ecs.Read(s.position))
	y := s.systems.Add("y", s.update())
	y.Uses(ecs.Write(s.health), ecs.Write(s.position))
	require.Equal(t, []string{"position", "health"}, s.systems.Ambiguities()[0].Types, "each call adds to those before")
}

// Lists that are given are the caller's again.
func TestListsAreCopied(t *testing.T) {
	s := newStage(t)
	x := s.systems.Add("x", s.update())
	terms := []ecs.Term{ecs.Read(s.health)}
	x.Uses(terms...)
	terms[0] = ecs.Read(s.position)
	x.Uses(ecs.Read(s.velocity))
	s.systems.Add("y", s.update()).Uses(ecs.Write(s.health), ecs.Write(s.position))
	require.Equal(t, []string{"health"}, s.systems.Ambiguities()[0].Types)
	queries := []*ecs.Query{ecs.NewQuery(s.w, ecs.Read(s.health))}
	x.Require(queries...)
	queries[0] = ecs.NewQuery(s.w)
	before := []string{"y"}
	s.systems.Add("z", s.update(), system.Before(before...))
	before[0] = "x"
	ecs.NewArchetype(s.w, s.position).Create()
	s.step()
	require.Equal(t, "z y", s.take())
}

// A point that was removed in this update, and one of other systems, hand out nothing.
func TestMisuseOfPoints(t *testing.T) {
	s, other := newStage(t), newStage(t)
	const text = "system: State.Commands: x: the command point is nil, was removed, or was not added to these systems"
	p := system.NewPoint()
	s.systems.Add("point", p)
	s.systems.Add("x", system.Func(func(x *system.State) {
		require.PanicsWithValue(t, text, func() { x.Commands(other.systems.EndSimulation()) })
		x.Commands(p)
		s.systems.Find("point").Remove()
		require.PanicsWithValue(t, text, func() { x.Commands(p) })
		x.Remove()
	}))
	x := s.systems.Find("x")
	s.step()
	require.PanicsWithValue(t, "system: State.Disable: x was removed", x.Disable)
}

// A query that an update makes anew lives as long as the system, and each frame costs more: a
// hundred are a warning, unless they were made once, or closed.
func TestQueriesMadeInUpdates(t *testing.T) {
	s := newStage(t)
	terms := ecs.Read(s.position)
	query := ecs.NewQuery(s.w, terms)
	s.systems.Add("once", system.Make(func(state *system.State) func() {
		for range 200 {
			state.For(state.Query(terms))
		}
		return func() {}
	}))
	s.systems.Add("closes", system.Func(func(state *system.State) { state.Query(terms).Close() }))
	s.systems.Add("queries", system.Func(func(state *system.State) { state.Query(terms) }))
	s.systems.Add("jobs", system.Func(func(state *system.State) { state.For(query) }))
	for range 99 {
		s.step()
	}
	require.Empty(t, s.systems.Warnings())
	for range 101 {
		s.step()
	}
	require.Equal(t, []string{
		"root/Simulation/queries makes queries in its updates, and has 100 now: make them once, in Create or by Make",
		"root/Simulation/jobs makes jobs in its updates, and has 100 now: make them once, in Create or by Make",
	}, s.systems.Warnings())
}
