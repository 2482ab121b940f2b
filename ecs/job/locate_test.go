package job_test

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"quarry/ecs"
	"quarry/ecs/job"

	"github.com/stretchr/testify/require"
)

// TestLocateInBodies: bodies on several workers learn where any entity is, as the owner does, of
// which types it is and how many rows are around it. All of it holds while the flight is out, and
// the dead are nowhere.
func TestLocateInBodies(t *testing.T) {
	w := newWorld(t)
	ids := w.fill(t, 3000)
	for i := range ids {
		if i%3 == 0 {
			w.awake.Add(ids[i], Awake{})
		}
	}
	random := rand.New(rand.NewPCG(4, 29))
	random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	dead := ids[:100]
	for _, e := range dead {
		w.Destroy(e)
	}
	want := make([]ecs.Location, len(ids))
	for i, e := range ids {
		want[i], _ = w.Locate(e)
	}
	s := w.schedule(t, 4)
	var asked, own atomic.Int64
	look := s.For(ecs.NewQuery(w.World, ecs.Write(w.position))).Named("look")
	for range 3 {
		require.NoError(t, look.Parallel(func(c *job.Ctx, rows ecs.Rows) {
			for i, e := range rows.Entities() {
				at, ok := c.Locate(e)
				if !ok || at.Archetype != rows.Archetype() || at.Chunk != rows.Chunk() || at.Row != c.Row()+i {
					t.Errorf("%v is at %v, not in row %d of chunk %d", e, at, c.Row()+i, rows.Chunk())
				}
				own.Add(1)
			}
			for i, e := range ids {
				at, ok := c.Locate(e)
				if at != want[i] || ok != (i >= len(dead)) || c.Alive(e) != ok {
					t.Errorf("%v is at %v, not at %v: %v", e, at, want[i], ok)
				}
				if !ok {
					continue
				}
				a := at.Archetype
				if _, _, n := a.Chunk(at.Chunk); at.Row >= n || !a.Has(w.position) || a.Len() == 0 ||
					len(a.Components()) < 3 {
					t.Errorf("%v has %d rows in chunk %d", a, n, at.Chunk)
				}
				asked.Add(1)
			}
		}).Complete())
	}
	require.EqualValues(t, 3*2900, own.Load())
	require.NotZero(t, asked.Load())

	other := newWorld(t)
	stranger := other.fill(t, 1)[0]
	err := look.Run(func(c *job.Ctx, _ ecs.Rows) { c.Locate(stranger) })
	var failed *job.PanicError
	require.ErrorAs(t, err, &failed)
	require.Contains(t, failed.Value, "ecs: World.Locate: entity ")
	require.Contains(t, failed.Value, "belongs to another world")
	var kept *job.Ctx
	require.NoError(t, look.Run(func(c *job.Ctx, _ ecs.Rows) { kept = c }))
	require.PanicsWithValue(t, "ecs: Ctx.Locate: job look is not out: it has not begun, or has ended",
		func() { kept.Locate(ids[200]) })
}
