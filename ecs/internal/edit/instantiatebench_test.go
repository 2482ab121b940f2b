package edit_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
)

type Score struct{ V int64 }

// BenchmarkInstantiate: ns a copy of an entity of two components, one by one, ten thousand at
// once, with a link to itself, with a buffer that has spilled, and of a group of ten.
func BenchmarkInstantiate(b *testing.B) {
	run := func(name string, make func(w *ecs.World) (e ecs.Entity), n, size int) {
		b.Run(name, func(b *testing.B) {
			w := ecstest.NewWorld(b)
			e := make(w)
			b.ResetTimer()
			for done := 0; done < b.N; done += n * size {
				if n == 1 && size == 1 {
					w.Instantiate(e)
				} else if batch, err := w.InstantiateN(e, n); err != nil || batch.Len() != n*size {
					b.Fatal(batch.Len(), err)
				}
				if done/(1<<20) != (done+n*size)/(1<<20) {
					b.StopTimer()
					w.Clear()
					e = make(w)
					b.StartTimer()
				}
			}
		})
	}
	plain := func(w *ecs.World) ecs.Entity {
		return ecs.NewArchetype(w, ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)).Create()
	}
	prefabOf4 := func(w *ecs.World) ecs.Entity {
		return ecs.NewArchetype(w, ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w),
			ecs.Register[ecstest.Health](w), ecs.Register[Score](w), ecs.Register[ecs.Prefab](w)).Create()
	}
	owned := func(w *ecs.World) ecs.Entity {
		owner := ecs.Register[ecstest.Owner](w)
		e := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w), owner).Create()
		owner.Set(e, ecstest.Owner{Of: e})
		return e
	}
	run("one", plain, 1, 1)
	run("prefab of 4", prefabOf4, 1, 1)
	run("10000 of prefab of 4", prefabOf4, 10_000, 1)
	run("one linked", owned, 1, 1)
	run("10000", plain, 10_000, 1)
	run("10000 linked", owned, 10_000, 1)
	run("10000 spilled", func(w *ecs.World) ecs.Entity {
		hits := ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(1))
		e := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w), hits).Create()
		hits.Append(e, ecstest.Hit{}, ecstest.Hit{}, ecstest.Hit{})
		return e
	}, 10_000, 1)
	run("group of 10", func(w *ecs.World) ecs.Entity {
		linked := ecs.RegisterBuffer[ecs.LinkedEntity](w)
		owner := ecs.Register[ecstest.Owner](w)
		part := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w), owner)
		e := ecs.NewArchetype(w, owner, linked).Create()
		for range 9 {
			p := part.Create()
			owner.Set(p, ecstest.Owner{Of: e})
			linked.Append(e, ecs.LinkedEntity{Entity: p})
		}
		return e
	}, 1, 10)
}
