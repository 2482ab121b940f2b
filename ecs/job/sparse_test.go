package job_test

import (
	"sync/atomic"
	"testing"

	"quarry/ecs"
	"quarry/ecs/job"

	"github.com/stretchr/testify/require"
)

// TestSparseInBodies: bodies see the rows that have a sparse type, enabled, write its values by
// row, and look up and switch those of any entity. What two bodies would disturb is ordered, and a
// change waits for them.
func TestSparseInBodies(t *testing.T) {
	w := newWorld(t)
	burning := ecs.RegisterSparse[Count](w.World, ecs.Enableable)
	ids := w.fill(t, 3000)
	for i, e := range ids {
		if i%3 > 0 {
			burning.Add(e, Count{int64(i)})
		}
		if i%3 == 2 {
			burning.Disable(e)
		}
	}
	s := w.schedule(t, 4)
	var rowsSeen, values atomic.Int64
	q := ecs.NewQuery(w.World, ecs.Write(burning), ecs.Read(w.position))
	since := w.Version()
	w.Advance()
	raise := s.For(q)
	first := raise.Parallel(func(c *job.Ctx, rows ecs.Rows) {
		column := burning.Column(rows)
		for i := range rows.Each() {
			v := column.At(i)
			v.N += 10_000
			rowsSeen.Add(1)
		}
		for i, e := range rows.Entities() {
			if column.At(i) == nil && !c.Alive(e) {
				t.Errorf("%v is dead", e)
			}
		}
	})
	sum := s.For(ecs.NewQuery(w.World, ecs.Read(w.count))).Uses(ecs.Read(burning))
	second := sum.Parallel(func(c *job.Ctx, rows ecs.Rows) {
		look := burning.Lookup(c.Accessor())
		for _, e := range rows.Entities() {
			if v := look.Get(e); v != nil && look.Enabled(e) {
				values.Add(v.N)
			} else if look.Has(e) != (v != nil) {
				t.Errorf("%v has a value and has not", e)
			}
		}
	})
	require.True(t, burning.Remove(ids[1]), "a change waits for both")
	require.NoError(t, first.Complete())
	require.NoError(t, second.Complete())
	want := int64(0)
	for i := range ids {
		if i%3 == 1 {
			want += int64(i) + 10_000
		}
	}
	require.EqualValues(t, 1000, rowsSeen.Load())
	require.Equal(t, want, values.Load(), "the reader came after the writer")
	require.True(t, burning.Changed(ids[4], since))

	flip := s.For(ecs.NewQuery(w.World, ecs.Read(w.position))).Exclusive(ecs.Write(burning))
	require.NoError(t, flip.Parallel(func(c *job.Ctx, rows ecs.Rows) {
		look := burning.Lookup(c.Accessor())
		for _, e := range rows.Entities() {
			if on := look.Enabled(e); on && !look.Disable(e) || !on && look.Has(e) != look.Enable(e) {
				t.Errorf("%v did not switch", e)
			}
			if v := look.Mut(e); v != nil {
				v.N = 7
			}
		}
	}).Complete())
	require.False(t, burning.Enabled(ids[4]))
	require.True(t, burning.Enabled(ids[2]))
	require.EqualValues(t, 7, burning.Get(ids[2]).N)
	require.NoError(t, w.Verify())
}

// TestSparseMisuseInBodies: what a job does not declare is refused by name, in its body and by the
// owner.
func TestSparseMisuseInBodies(t *testing.T) {
	w := newWorld(t)
	burning := ecs.RegisterSparse[Count](w.World)
	ids := w.fill(t, 10)
	burning.Add(ids[0], Count{1})
	s := w.schedule(t, 2)
	reads := s.For(ecs.NewQuery(w.World, ecs.Read(burning)))
	err := reads.Parallel(func(c *job.Ctx, rows ecs.Rows) { burning.Lookup(c.Accessor()).Mut(ids[0]) }).Complete()
	require.ErrorContains(t, err, "declares sparse Count to read: use ecs.Write")
	bare := s.For(ecs.NewQuery(w.World, ecs.Read(w.position)))
	err = bare.Parallel(func(c *job.Ctx, rows ecs.Rows) { burning.Column(rows) }).Complete()
	require.ErrorContains(t, err, "does not declare sparse Count")
	err = bare.Parallel(func(c *job.Ctx, rows ecs.Rows) { burning.Lookup(c.Accessor()) }).Complete()
	require.ErrorContains(t, err, "does not use sparse Count: declare it")
	begun, end := meeting{n: 2}, meeting{n: 2}
	writes := s.For(ecs.NewQuery(w.World, ecs.Write(burning)))
	flight := writes.Parallel(func(c *job.Ctx, rows ecs.Rows) { begun.wait(); end.wait() })
	begun.wait()
	require.Panics(t, func() { burning.Get(ids[0]) })
	require.Panics(t, func() { burning.Set(ids[0], Count{}) })
	require.Panics(t, func() { burning.Slice() })
	require.Panics(t, func() { burning.Values() })
	require.True(t, burning.Has(ids[0]))
	end.wait()
	require.NoError(t, flight.Complete())
}
