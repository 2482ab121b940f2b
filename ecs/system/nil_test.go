package system_test

import (
	"context"
	"testing"

	"quarry/ecs"
	"quarry/ecs/system"
	"quarry/internal/lint"

	"github.com/stretchr/testify/require"
)

var noContext context.Context

// TestNil calls whatever takes a pointer, a function or an interface with nil.
func TestNil(t *testing.T) {
	s := newStage(t)
	x := s.systems.Add("x", system.Func(func(*system.State) {}))
	place := ecs.Register[position](s.w)
	w, err := ecs.NewWorld() // without a scheduler
	require.NoError(t, err)
	defer w.Close()
	panics, returns := lint.NilPanics, lint.NilReturns
	lint.CheckNil(t,
		panics("Clock", "system: Clock: ", func() { system.Clock(nil) }),
		panics("Context", "system: Context: ", func() { system.Context(noContext) }),
		returns("Func.Update", func(t *testing.T) {
			called := false
			system.Func(func(s *system.State) { called = s == nil }).Update(nil)
			require.True(t, called, "it has what it was given")
		}),
		panics("Group.Add", "system: Group.Add: ", func() { s.systems.Root().Add("nil", nil) }),
		returns("Group.SetRate", func(*testing.T) { s.systems.Simulation().SetRate(nil) }),
		panics("Group.TryAdd", "system: Group.Add: ", func() { _, _ = s.systems.Root().TryAdd("nil", nil) }),
		panics("Group.Update", "system: Group.Update: ", func() { s.systems.Root().Update(nil) }),
		panics("Jobs", "system: Jobs: ", func() { system.Jobs(nil) }),
		panics("Logger", "system: Logger: ", func() { system.Logger(nil) }),
		panics("Make", "system: Make: ", func() { system.Make(nil) }),
		panics("New: world", "system: New: ", func() { system.New(nil) }),
		panics("New: option", "system: New: ", func() { system.New(w, nil) }),
		panics("NewDefault", "system: NewDefault: ", func() { _, _ = system.NewDefault(nil) }),
		panics("NewSingleton", "system: NewSingleton: ", func() { system.NewSingleton(nil, place) }),
		panics("Point.Update", "system: Point.Update: ", func() { s.systems.EndSimulation().Update(nil) }),
		panics("ReadResource", "system: ReadResource: ", func() { system.ReadResource[int](nil) }),
		panics("Resource", "system: Resource: ", func() { system.Resource[int](nil) }),
		panics("ResourceOf", "system: ResourceOf: ", func() { system.ResourceOf[int](nil) }),
		panics("SetResource: systems", "system: SetResource: ", func() { system.SetResource(nil, new(int)) }),
		returns("SetResource: value", func(t *testing.T) {
			system.SetResource(s.systems, new(int))
			system.SetResource[int](s.systems, nil)
			require.Nil(t, system.ResourceOf[int](s.systems), "it is taken away")
		}),
		panics("Snapshots.Take", "system: Snapshots.Take: the context is nil",
			func() { _, _ = s.systems.Snapshots().Take(noContext) }),
		panics("State.Commands", "system: State.Commands: ", func() { x.Commands(nil) }),
		panics("State.For", "system: State.For: ", func() { x.For(nil) }),
		panics("State.Require", "system: State.Require: ", func() { x.Require(nil) }),
		panics("State.OnDestroy", "system: State.OnDestroy: ", func() { x.OnDestroy(nil) }),
		panics("Systems.Add", "system: Group.Add: ", func() { s.systems.Add("nil", nil) }),
		panics("Systems.AddRegistered", "system: Systems.AddRegistered: ", func() { _ = s.systems.AddRegistered(nil) }),
		panics("Systems.TryAdd", "system: Group.Add: ", func() { _, _ = s.systems.TryAdd("nil", nil) }),
		panics("WithScheduler", "system: WithScheduler: ", func() { system.WithScheduler(nil) }),
	)
	require.NoError(t, s.systems.Update(), "nothing has changed")
}
