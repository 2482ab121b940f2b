package ecs_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// BenchmarkTry: ns a call that switches an entity's component off, direct, each in a Try, and a
// thousand in one.
func BenchmarkTry(b *testing.B) {
	w := ecstest.NewWorld(b)
	stun := ecs.Register[ecstest.Stun](w, ecs.Enableable)
	e := ecs.NewArchetype(w, stun).Create()
	b.Run("direct", func(b *testing.B) {
		for b.Loop() {
			stun.Disable(e)
		}
	})
	b.Run("each", func(b *testing.B) {
		for b.Loop() {
			if err := ecs.Try(func() { stun.Disable(e) }); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("thousand", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, ecs.Try(func() {
				for range 1000 {
					stun.Disable(e)
				}
			}))
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/call")
	})
}
