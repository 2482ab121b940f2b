package job_test

import (
	"runtime"
	godebug "runtime/debug"
	"testing"

	"quarry/ecs"
	"quarry/ecs/job"
	"quarry/internal/debug"

	"github.com/stretchr/testify/require"
)

// Jobs that ran once are scheduled, run and completed without an allocation.
func TestNoAllocations(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 5000)
	defer godebug.SetGCPercent(godebug.SetGCPercent(-1)) // which drops what the runtime keeps to wait with
	for _, k := range []int{1, 3} {
		s := job.NewScheduler(w.World, job.Workers(k), job.Inline(0))
		p := job.NewPartials[float64]()
		moves := s.For(ecs.NewQuery(w.World, ecs.Write(w.position), ecs.Read(w.velocity)))
		counts := s.For(ecs.NewQuery(w.World, ecs.Write(w.count), ecs.Optional(ecs.Read(w.awake)))).Indexed()
		sums := s.For(ecs.NewQuery(w.World, ecs.Read(w.position))).Reduces(p)
		none := s.For(ecs.NewQuery(w.World, ecs.Write(w.target)))
		move := func(c *job.Ctx, rows ecs.Rows) {
			for i, v := range w.velocity.Slice(rows) {
				w.position.Slice(rows)[i].X += v.X
			}
		}
		count := func(c *job.Ctx, rows ecs.Rows) { w.count.Slice(rows)[0].N = int64(c.Index()) }
		sum := func(c *job.Ctx, rows ecs.Rows) { *p.At(c) += w.position.Slice(rows)[0].X }
		frame := func() {
			h := moves.Parallel(move)
			counts.Schedule(count)
			sums.After(h).Parallel(sum)
			none.Parallel(move)
			if h.Complete() != nil || none.Run(move) != nil || s.Complete() != nil {
				t.Error("an error")
			}
			p.Fold(0, func(a, b float64) float64 { return a + b })
		}
		for range 1000 {
			frame()
		}
		// testing.AllocsPerRun would let one thread run. A few are the runtime's, to wait with.
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 1000 {
			frame()
		}
		runtime.ReadMemStats(&after)
		if k > 1 && debug.On {
			continue // the race detector's pools forget at random
		}
		require.Less(t, after.Mallocs-before.Mallocs, uint64(100), "%d workers", k)
		require.NoError(t, s.Close())
	}
}
