package ecs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/ecs"
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
		ecs.NewArchetype(w, ecs.Register[Position](w)).Create()
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}
