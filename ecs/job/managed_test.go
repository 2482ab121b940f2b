package job_test

import (
	"sync/atomic"
	"testing"

	"quarry/ecs"
	"quarry/ecs/job"

	"github.com/stretchr/testify/require"
)

// TestManagedInBodies: bodies look up the values of a managed type of any entity, and write those
// that are there; they make none.
func TestManagedInBodies(t *testing.T) {
	w := newWorld(t)
	text := ecs.RegisterManaged[[]string](w.World)
	ids := w.fill(t, 1000)
	for i, e := range ids[:100] {
		text.Add(e, []string{"a"}[:i%2])
	}
	bare := ecs.NewArchetype(w.World, text).Create() // no value yet
	s := w.schedule(t, 4)
	q := ecs.NewQuery(w.World, ecs.Read(w.position))
	var lines atomic.Int64
	require.NoError(t, s.For(q).Uses(ecs.Read(text)).Parallel(func(c *job.Ctx, rows ecs.Rows) {
		look := text.Lookup(c.Accessor())
		for _, e := range rows.Entities() {
			if v := look.Get(e); v != nil {
				lines.Add(int64(len(*v)))
			}
			if look.Has(e) != (look.Get(e) != nil) {
				t.Errorf("%v has a value and has not", e)
			}
		}
		if look.Get(bare) != nil || !look.Has(bare) {
			t.Errorf("%v has no value yet", bare)
		}
	}).Complete())
	require.EqualValues(t, 50, lines.Load())
	require.NoError(t, s.For(q).Exclusive(ecs.Write(text)).Parallel(func(c *job.Ctx, rows ecs.Rows) {
		look := text.Lookup(c.Accessor())
		for _, e := range rows.Entities() {
			if v := look.Mut(e); v != nil {
				*v = append(*v, "b")
			}
		}
		if look.Mut(bare) != nil {
			t.Errorf("%v was given a value", bare)
		}
	}).Complete())
	require.Equal(t, []string{"a", "b"}, *text.Get(ids[1]))
	require.Equal(t, []string{"b"}, *text.Get(ids[2]))
	require.Nil(t, text.Get(bare))
	var failed *job.PanicError
	require.ErrorAs(t, s.For(q).Uses(ecs.Read(text)).Run(func(c *job.Ctx, _ ecs.Rows) {
		text.Lookup(c.Accessor()).Mut(ids[0])
	}), &failed)
	require.Contains(t, failed.Value, "to read: use ecs.Write")
	require.NoError(t, w.Verify())
}
