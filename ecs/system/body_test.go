package system_test

import (
	"fmt"
	"testing"

	"quarry/ecs"
	"quarry/ecs/job"
	"quarry/ecs/system"

	"github.com/stretchr/testify/require"
)

// What belongs to the owner refuses bodies of jobs, which run beside each other: always on
// the owner's goroutine, where these run.
func TestMisuseInBodies(t *testing.T) {
	s := newStage(t, system.Jobs(job.Workers(1)))
	ecs.NewArchetype(s.w, s.health).Create()
	system.SetResource(s.systems, &journal{})
	var x *system.State
	calls := map[string]func(){
		"State.Commands":      func() { x.Commands(s.systems.EndSimulation()) },
		"State.Query":         func() { x.Query(ecs.Read(s.health)) },
		"State.Uses":          func() { x.Uses(ecs.Read(s.health)) },
		"State.For":           func() { x.For(nil) },
		"State.Require":       func() { x.Require() },
		"State.SetDependency": func() { x.SetDependency(job.Handle{}) },
		"State.Enable":        func() { x.Enable() },
		"State.Disable":       func() { x.Disable() },
		"State.Remove":        func() { x.Remove() },
		"State.Time":          func() { x.Time() },
		"Resource":            func() { system.Resource[journal](x) },
		"Systems.Add":         func() { s.systems.Add("y", s.update()) },
		"Group.Add":           func() { s.systems.FixedStep().Add("y", s.update()) },
		"Group.SetRate":       func() { s.systems.FixedStep().SetRate(nil) },
		"Systems.Step":        func() { _ = s.systems.Step(frame) },
		"Systems.Close":       func() { _ = s.systems.Close() },
		"Systems.Timings":     func() { s.systems.Timings() },
		"SetResource":         func() { system.SetResource(s.systems, new(int)) },
		"Systems.TryAdd":      func() { _, _ = s.systems.TryAdd("y", s.update()) },
		"ResourceOf":          func() { system.ResourceOf[int](s.systems) },
		"Group.Systems":       func() { s.systems.Root().Systems() },
		"Systems.Update":      func() { _ = s.systems.Update() },
	}
	x = s.systems.Add("x", system.Make(func(x *system.State) func() {
		j := x.For(x.Query(ecs.Write(s.health)))
		body := func(*job.Ctx, ecs.Rows) {
			for op, call := range calls {
				want := fmt.Sprintf("system: %s: in the body of a job; bodies use what the update took for them before",
					op)
				require.PanicsWithValue(t, want, call)
				s.note("refused")
			}
		}
		return func() { j.Parallel(body) }
	}))
	s.step()
	require.Len(t, s.seen, len(calls))
	require.Len(t, s.systems.Timings(), 13, "nothing was added")
}
