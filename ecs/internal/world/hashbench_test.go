package world_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// BenchmarkHash hashes rows of some kinds of values; B/s are of values, without entities.
func BenchmarkHash(b *testing.B) {
	const n = 100_000
	w := ecstest.NewWorld(b)
	position := ecs.Register[ecstest.Position](w)
	owner := ecs.Register[ecstest.Owner](w)
	hit := ecs.Register[ecstest.Hit](w)
	for name, of := range map[string]struct {
		t    ecs.Type
		size int64
	}{"position": {position, 16}, "entity": {owner, 8}, "gathered": {hit, 12}} {
		b.Run(name, func(b *testing.B) {
			batch, err := ecs.NewArchetype(w, of.t).CreateN(n)
			require.NoError(b, err)
			ids := batch.Entities(nil)
			b.SetBytes(n * of.size)
			b.ResetTimer()
			for b.Loop() {
				w.Hash()
			}
			b.StopTimer()
			w.DestroyList(ids)
		})
	}
}
