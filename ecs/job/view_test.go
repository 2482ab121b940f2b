package job_test

import (
	"sync/atomic"
	"testing"

	"quarry/ecs"
	"quarry/ecs/job"

	"github.com/stretchr/testify/require"
)

// mover is a view for bodies: columns to write and read, buffers, and bits to switch.
type mover struct {
	P     ecs.W[Position]
	V     ecs.R[Velocity]
	Seen  ecs.BufferW[Count]
	Awake ecs.BitsW[Awake]
	E     []ecs.Entity
}

// TestViewsInBodies: the bodies of a job on several workers fill one view from their rows. Each
// gets the rows of its part, for reading, writing and switching, and what it writes is marked.
func TestViewsInBodies(t *testing.T) {
	w := newWorld(t)
	seen := ecs.RegisterBuffer[Count](w.World, ecs.Inline(1))
	a := ecs.NewArchetype(w.World, w.position, w.velocity, seen, w.awake)
	batch, err := a.CreateN(20_000)
	require.NoError(t, err)
	ids := batch.Entities(nil)
	for i, e := range ids {
		w.position.Set(e, Position{X: float64(i)})
		w.velocity.Set(e, Velocity{X: 1, Y: float64(i)})
	}
	view := ecs.NewView[mover](w.World)
	changed := ecs.NewQuery(w.World, ecs.Present(w.awake), ecs.Changed(w.awake))
	for range changed.Rows() {
	}
	s := w.schedule(t, 4)
	move := s.For(view.Query()).Named("move")
	calls := 0
	body := func(c *job.Ctx, rows ecs.Rows) {
		m := view.At(rows)
		for i := range m.P {
			m.P[i].X += m.V[i].X
			m.P[i].Y = m.V[i].Y
			m.Seen.At(i).Append(Count{int64(i)}, Count{int64(m.E[i].Index())})
			if m.E[i].Index()%3 == 0 {
				m.Awake.Disable(i)
			} else {
				m.Awake.Enable(i)
			}
			if m.Awake.Enabled(i) != (m.E[i].Index()%3 != 0) {
				t.Errorf("%v is not as it was switched", m.E[i])
			}
		}
	}
	for range 3 {
		calls++
		require.NoError(t, move.Parallel(body).Complete())
	}
	require.Equal(t, len(ids), changed.Count())
	for i, e := range ids {
		require.Equal(t, Position{float64(i + calls), float64(i)}, *w.position.Get(e))
		require.Equal(t, e.Index()%3 != 0, w.awake.Enabled(e))
		b, _ := seen.Get(e)
		require.Equal(t, 2*calls, b.Len())
		require.EqualValues(t, e.Index(), b.Slice()[1].N)
	}
	require.NoError(t, w.Verify(), "the counts of bits too")
}

// TestBitsOfBuffersByLookUp: bodies read and switch the enable bits of buffers of any entity.
func TestBitsOfBuffersByLookUp(t *testing.T) {
	w := newWorld(t)
	hits := ecs.RegisterBuffer[Count](w.World, ecs.Enableable)
	ids := w.fill(t, 500)
	targets := make([]ecs.Entity, len(ids))
	for i := range targets {
		targets[i] = ecs.NewArchetype(w.World, hits).Create()
		if i%2 == 0 {
			hits.Disable(targets[i])
		}
	}
	of := map[ecs.Entity]ecs.Entity{}
	for i, e := range ids {
		of[e] = targets[i]
	}
	s := w.schedule(t, 4)
	q := ecs.NewQuery(w.World, ecs.Read(w.position))
	var enabled atomic.Int64
	reads := s.For(q).Uses(ecs.Read(hits))
	require.NoError(t, reads.Parallel(func(c *job.Ctx, rows ecs.Rows) {
		look := hits.Lookup(c.Accessor())
		for _, e := range rows.Entities() {
			if !look.Has(of[e]) || look.Has(e) {
				t.Errorf("%v has buffers wrong", e)
			}
			if look.Enabled(of[e]) {
				enabled.Add(1)
			}
		}
	}).Complete())
	require.EqualValues(t, 250, enabled.Load())
	flip := s.For(q).Exclusive(ecs.Write(hits))
	require.NoError(t, flip.Parallel(func(c *job.Ctx, rows ecs.Rows) {
		look := hits.Lookup(c.Accessor())
		for _, e := range rows.Entities() {
			on := look.Enabled(of[e])
			if on && !look.Disable(of[e]) || !on && !look.Enable(of[e]) || look.Enabled(of[e]) == on || look.Enable(e) {
				t.Errorf("%v was not switched", of[e])
			}
		}
	}).Complete())
	for i, e := range targets {
		require.Equal(t, i%2 == 0, hits.Enabled(e))
	}
	err := reads.Run(func(c *job.Ctx, _ ecs.Rows) { hits.Lookup(c.Accessor()).Enable(targets[0]) })
	var failed *job.PanicError
	require.ErrorAs(t, err, &failed)
	require.Contains(t, failed.Value, "[]Count")
}
