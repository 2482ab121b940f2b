package system_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/job"
	"quarry/ecs/system"

	"github.com/stretchr/testify/require"
)

// A system that never ran sees everything; then the writes of others since it last ran, in each
// loop of an update, and not its own.
func TestBehaviour51And52OfSystems(t *testing.T) {
	s := newStage(t)
	e := ecs.NewArchetype(s.w, s.health, s.position).Create()
	var watch *system.State
	watch = s.systems.Add("watch", system.Make(func(x *system.State) func() {
		q := x.Query(ecs.Write(s.health), ecs.Changed(s.health))
		return func() {
			require.Equal(t, watch.LastVersion(), q.Since())
			for range 2 {
				n := 0
				for rows := range q.Rows() {
					n += len(s.health.Slice(rows))
				}
				s.note("%d", n)
			}
		}
	}))
	writer := s.systems.Add("write", system.Func(func(*system.State) { s.health.Set(e, health{1}) }), system.First())
	writer.Disable()
	require.Equal(t, uint32(0), watch.LastVersion())
	s.step()
	require.Equal(t, "1 1", s.take(), "it never ran")
	s.step()
	require.Equal(t, "0 0", s.take(), "its own writes")
	s.health.Set(e, health{2})
	s.step()
	require.Equal(t, "1 1", s.take(), "written between frames")
	writer.Enable()
	s.step()
	require.Equal(t, "1 1", s.take(), "written in the frame")
	writer.Disable()
	s.step()
	require.Equal(t, "0 0", s.take())
	watch.Disable()
	writer.Enable()
	s.step()
	writer.Disable()
	s.step()
	watch.Enable()
	s.step()
	require.Equal(t, "1 1", s.take(), "written while it was disabled")
	s.step()
	require.Equal(t, "0 0", s.take())
}

// What a system's job writes is not new to the system, and is to others, wherever they stand.
func TestBehaviour52OfJobs(t *testing.T) {
	s := newStage(t)
	_, err := ecs.NewArchetype(s.w, s.health).CreateN(1000)
	require.NoError(t, err)
	watch := func(name string, write bool, orderings ...system.Ordering) *system.State {
		return s.systems.Add(name, system.Make(func(x *system.State) func() {
			term := ecs.Read(s.health)
			if write {
				term = ecs.Write(s.health)
			}
			j := x.For(x.Query(term, ecs.Changed(s.health)))
			count := job.NewPartials[int]()
			j.Reduces(count)
			body := func(c *job.Ctx, rows ecs.Rows) {
				*count.At(c) += len(s.health.Slice(rows))
			}
			return func() {
				require.NoError(t, j.Parallel(body).Complete())
				s.note("%s:%d", name, count.Fold(0, func(a, b int) int { return a + b }))
			}
		}), orderings...)
	}
	watch("before", false)
	writer := watch("writes", true)
	watch("after", false)
	s.step()
	require.Equal(t, "before:1000 writes:1000 after:1000", s.take())
	s.step()
	require.Equal(t, "before:1000 writes:0 after:0", s.take())
	s.step()
	require.Equal(t, "before:0 writes:0 after:0", s.take())
	writer.Disable()
	s.step()
	require.Equal(t, "before:0 after:0", s.take())
}

// A query that is made in an update compares with the update before from the start.
func TestBehaviour51QueryMadeInAnUpdate(t *testing.T) {
	s := newStage(t)
	e := ecs.NewArchetype(s.w, s.health).Create()
	s.systems.Add("x", system.Func(func(x *system.State) {
		q := x.Query(ecs.Read(s.health), ecs.Changed(s.health))
		s.note("%d", q.Count())
		q.Close()
	}))
	s.step()
	s.step()
	s.health.Set(e, health{1})
	s.step()
	require.Equal(t, "1 0 1", s.take())
}
