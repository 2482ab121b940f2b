package job_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/ecs/job"
)

// TestNilResults compares the nil of a Lookup in a body where the look-up is inlined, as programs
// do: the compiler takes the sum of a nil pointer and a number for one that is not nil.
func TestNilResults(t *testing.T) {
	w := newWorld(t)
	lacks, dead := ecs.NewArchetype(w.World, w.target).Create(), ecs.NewArchetype(w.World, w.count).Create()
	w.Destroy(dead)
	ecs.NewArchetype(w.World, w.count).Create()
	ecs.NewArchetype(w.World, w.count, w.target).Create()
	sparse, managed := ecs.RegisterSparse[float64](w.World), ecs.RegisterManaged[string](w.World)
	jobs := w.schedule(t, 1)
	reads := jobs.For(ecs.NewQuery(w.World, ecs.Read(w.target))).
		Uses(ecs.Read(w.count), ecs.Read(sparse), ecs.Read(managed))
	require.NoError(t, reads.Parallel(func(c *job.Ctx, _ ecs.Rows) {
		look, inSparse := w.count.Lookup(c.Accessor()), sparse.Lookup(c.Accessor())
		inManaged := managed.Lookup(c.Accessor())
		for _, e := range []ecs.Entity{lacks, dead, ecs.Null} {
			if p := look.Get(e); p != nil {
				t.Errorf("Lookup.Get(%v): %v", e, p)
			}
			if p := inSparse.Get(e); p != nil {
				t.Errorf("Lookup.Get(%v) of a sparse type: %v", e, p)
			}
			if p := inManaged.Get(e); p != nil {
				t.Errorf("Lookup.Get(%v) of a managed type: %v", e, p)
			}
		}
	}).Complete())
	writes := jobs.For(ecs.NewQuery(w.World, ecs.Read(w.target))).Exclusive(ecs.Write(w.count))
	require.NoError(t, writes.Parallel(func(c *job.Ctx, _ ecs.Rows) {
		look := w.count.Lookup(c.Accessor())
		if p := look.Mut(lacks); p != nil {
			t.Errorf("Lookup.Mut: %v", p)
		}
		if p := look.Mut(dead); p != nil {
			t.Errorf("Lookup.Mut of a dead entity: %v", p)
		}
	}).Complete())
}
