package system_test

import (
	"bytes"
	"context"
	"runtime/pprof"
	"runtime/trace"
	"testing"

	"quarry/ecs"
	"quarry/ecs/job"
	"quarry/ecs/system"
	"quarry/internal/clock"

	"github.com/stretchr/testify/require"
)

// labels returns the profile of goroutines, which prints the labels of each.
func labels(t *testing.T) string {
	var b bytes.Buffer
	require.NoError(t, pprof.Lookup("goroutine").WriteTo(&b, 1))
	return b.String()
}

// Profiles have the name of the system that runs, those of its jobs too, and what the program had
// set before.
func TestLabels(t *testing.T) {
	base := pprof.WithLabels(context.Background(), pprof.Labels("program", "game"))
	s := newStage(t, system.Context(base), system.Jobs(job.Workers(2), job.Inline(0)))
	ecs.NewArchetype(s.w, s.health).Create()
	s.systems.Add("loop", system.Func(func(*system.State) {
		require.Contains(t, labels(t), `{"program":"game", "system":"loop"}`)
	}))
	inBody := ""
	s.systems.Add("jobs", system.Make(func(x *system.State) func() {
		j := x.For(x.Query(ecs.Write(s.health)))
		body := func(*job.Ctx, ecs.Rows) { inBody = labels(t) }
		return func() { j.Schedule(body) }
	}))
	s.systems.Add("other", system.Make(func(x *system.State) func() {
		x.Uses(ecs.Read(s.health)) // completes the job, perhaps here
		return func() {
			require.Contains(t, labels(t), `{"program":"game", "system":"other"}`)
			require.NotContains(t, labels(t), `"system":"jobs"`)
		}
	}))
	s.step()
	require.Contains(t, inBody, `{"program":"game", "system":"jobs"}`)
	after := labels(t)
	require.NotContains(t, after, `"system"`)
	require.Contains(t, after, `{"program":"game"}`)
}

// Traces have a region for each system. fuzz reads one back event by event.
func TestTraceHasRegions(t *testing.T) {
	s := newStage(t)
	s.systems.Add("think", s.update())
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Skip(err)
	}
	s.step()
	trace.Stop()
	require.Contains(t, b.String(), "system think")
	require.Contains(t, b.String(), "system EndSimulation")
}

// tick waits for the clock to go on: so long an update takes at least, however coarse the clock.
func tick(*system.State) {
	for start := clock.Now(); clock.Now() == start; {
	}
}

func TestTimings(t *testing.T) {
	s := newStage(t)
	x := s.systems.Add("x", system.Func(tick))
	s.step()
	s.step()
	one := x.Timing()
	require.Equal(t, "x", one.System)
	require.Equal(t, 2, one.Depth)
	require.Equal(t, uint64(2), one.Updates)
	require.Positive(t, one.Last)
	require.LessOrEqual(t, one.Last, one.Max)
	require.LessOrEqual(t, one.Max, one.Total)
	require.Equal(t, one.Total/2, one.Mean())
	all := s.systems.Timings()
	require.Equal(t, "root", all[0].System)
	require.GreaterOrEqual(t, all[0].Total, one.Total, "that of a group has its systems' in it")
	x.Disable()
	s.step()
	require.Equal(t, one, x.Timing())
	require.Zero(t, system.Timing{}.Mean())
}

// TestFramesTakeTime: frames by the clock of its own take time, however soon they come.
func TestFramesTakeTime(t *testing.T) {
	s := newStage(t)
	s.systems.Add("tick", system.Func(tick))
	for i := range 20 {
		require.NoError(t, s.systems.Update())
		require.Equal(t, i > 0, s.systems.Time().Delta > 0, "frame %d", i)
	}
}

// around is a group that looks at the labels behind its systems.
type around struct {
	*system.Group
	t *testing.T
}

func (a *around) Update(s *system.State) {
	a.Group.Update(s)
	require.Contains(a.t, labels(a.t), `"system":"around"`)
	require.NotContains(a.t, labels(a.t), `"system":"inner"`)
}

// A group has its own labels again behind each of its systems, those that panic too.
func TestLabelsOfGroups(t *testing.T) {
	s := newStage(t)
	a := &around{Group: system.NewGroup(), t: t}
	s.systems.Add("around", a)
	a.Add("inner", s.update())
	a.Add("panics", system.Func(func(*system.State) { panic("down") }))
	err := s.systems.Step(frame)
	require.NotContains(t, err.Error(), "around: ")
	require.Equal(t, "inner", s.take())
	s.systems.Find("panics").Remove()
	s.step()
}
