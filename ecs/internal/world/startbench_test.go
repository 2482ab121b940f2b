package world_test

import (
	"fmt"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// BenchmarkStart makes and closes a world: empty or with one entity, on a universe of its own or
// on one that all rounds share.
func BenchmarkStart(b *testing.B) {
	for _, entity := range []bool{false, true} {
		name := map[bool]string{false: "empty", true: "one"}[entity]
		b.Run("own/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				startWorld(b, entity)
			}
		})
		b.Run("shared/"+name, func(b *testing.B) {
			b.ReportAllocs()
			u, err := alloc.NewUniverse()
			require.NoError(b, err)
			for b.Loop() {
				startWorld(b, entity, ecs.WithUniverse(u))
			}
			require.NoError(b, u.Close())
		})
	}
}

func startWorld(b *testing.B, entity bool, options ...ecs.Option) {
	w, err := ecs.NewWorld(options...)
	if err != nil {
		b.Fatal(err)
	}
	if entity {
		ecs.NewArchetype(w, ecs.Register[ecstest.Position](w)).Create()
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkFill makes a world with n entities of two types and closes it: entities one by one, n at
// once, or n at once after the first.
func BenchmarkFill(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000, 100_000, 1_000_000} {
		for name, make := range map[string]func(a *ecs.Archetype) error{
			"one by one": func(a *ecs.Archetype) error {
				for range n {
					a.Create()
				}
				return nil
			},
			"at once": func(a *ecs.Archetype) error { _, err := a.CreateN(n); return err },
			"one, then all": func(a *ecs.Archetype) error {
				a.Create()
				_, err := a.CreateN(n - 1)
				return err
			},
		} {
			b.Run(fmt.Sprintf("way=%s/n=%d", name, n), func(b *testing.B) {
				steps := 0
				for b.Loop() {
					w, err := ecs.NewWorld()
					require.NoError(b, err)
					require.NoError(b,
						make(ecs.NewArchetype(w, ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w))))
					require.NoError(b, w.Close())
					steps++
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps*n), "ns/entity")
			})
		}
	}
}
