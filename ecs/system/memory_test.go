package system_test

import (
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/command"
	"quarry/ecs/job"
	"quarry/ecs/system"

	"github.com/stretchr/testify/require"
)

// A world that is full: what bodies cannot record and points cannot play are errors of the frame
// that wrap alloc.ErrFull, other systems run, and when there is room again all is as before.
func TestWorldThatIsFull(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(2 << 20))
	require.NoError(t, err)
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	require.NoError(t, err)
	s := &stage{t: t, w: w, systems: system.New(w, system.Jobs(job.Workers(2))), health: ecs.Register[health](w)}
	a := ecs.NewArchetype(w, s.health)
	_, err = a.CreateN(1000)
	require.NoError(t, err)
	spawns := s.systems.Add("spawn", system.Make(func(x *system.State) func() {
		j := x.For(x.Query(ecs.Read(s.health)))
		var cb *command.Buffer
		body := func(c *job.Ctx, rows ecs.Rows) {
			out := cb.Parallel(c)
			for range 20 * rows.Len() {
				command.Set(out, out.Create(a), s.health, health{1})
			}
		}
		return func() { cb = x.Commands(s.systems.EndSimulation()); j.Parallel(body) }
	}))
	s.systems.Presentation().Add("other", s.update())
	s.step()
	require.Equal(t, 21_000, a.Len())
	before := u.Stats().Live
	for range 3 {
		require.ErrorIs(t, s.systems.Step(frame), alloc.ErrFull)
		require.Equal(t, 21_000, a.Len())
		require.NoError(t, w.Verify())
		require.Less(t, u.Stats().Live, before, "commands that are lost keep no memory")
	}
	spawns.Disable()
	w.Clear()
	s.step()
	_, err = a.CreateN(1000)
	require.NoError(t, err)
	spawns.Enable()
	s.step()
	require.Equal(t, 21_000, a.Len())
	require.Equal(t, "other other other other other other", s.take())
	require.NoError(t, s.systems.Close())
	require.NoError(t, w.Close())
	require.NoError(t, u.Close(), "nothing is left in it")
}
