package job_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/job"

	"github.com/stretchr/testify/require"
)

// BenchmarkLookupInBodies: ns a look-up of 10,000 entities in order, in the body of a job on one
// worker, by kind; owner is Component.Get.
func BenchmarkLookupInBodies(b *testing.B) {
	w := newWorld(b)
	burning, text := ecs.RegisterSparse[Count](w.World), ecs.RegisterManaged[string](w.World)
	ids := w.fill(b, 10_000)
	for _, e := range ids {
		burning.Add(e, Count{1})
		text.Add(e, "a")
	}
	s := w.schedule(b, 1)
	q := ecs.NewQuery(w.World, ecs.Read(w.position))
	sum := int64(0)
	per := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(ids)), "ns/look-up")
	}
	b.Run("owner", func(b *testing.B) {
		for b.Loop() {
			for _, e := range ids {
				sum += w.count.Get(e).N
			}
		}
		per(b)
	})
	in := func(name string, uses ecs.Type, look func(c *job.Ctx)) {
		j := s.For(q).Uses(ecs.Read(uses))
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				once := true
				require.NoError(b, j.Run(func(c *job.Ctx, _ ecs.Rows) {
					if once {
						once = false
						look(c)
					}
				}))
			}
			per(b)
		})
	}
	in("component", w.count, func(c *job.Ctx) {
		look := w.count.Lookup(c.Accessor())
		for _, e := range ids {
			sum += look.Get(e).N
		}
	})
	in("sparse", burning, func(c *job.Ctx) {
		look := burning.Lookup(c.Accessor())
		for _, e := range ids {
			sum += look.Get(e).N
		}
	})
	in("managed", text, func(c *job.Ctx) {
		look := text.Lookup(c.Accessor())
		for _, e := range ids {
			sum += int64(len(*look.Get(e)))
		}
	})
	require.Positive(b, sum)
}
