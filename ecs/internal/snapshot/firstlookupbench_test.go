package snapshot_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
)

// BenchmarkFirstLookup measures a snapshot that is taken, asked for the component of some entities,
// and closed.
func BenchmarkFirstLookup(b *testing.B) {
	for _, n := range []int{300_000, 1_000_000} {
		w, err := ecs.NewWorld()
		require.NoError(b, err)
		position := ecs.Register[ecstest.Position](w)
		batch, err := ecs.NewArchetype(w, position).CreateN(n)
		require.NoError(b, err)
		list := batch.Entities(nil)
		for _, asked := range []int{0, 1, 1000} {
			b.Run(fmt.Sprintf("entities=%d/asked=%d", n, asked), func(b *testing.B) {
				for b.Loop() {
					s := w.Snapshot()
					look := position.Lookup(s)
					for i := range asked {
						if look.Get(list[i*(n/max(asked, 1))]) == nil {
							b.Fatal("it was alive")
						}
					}
					s.Close()
				}
			})
		}
		s := w.Snapshot()
		look, at := position.Lookup(s), 0
		b.Run(fmt.Sprintf("entities=%d/again", n), func(b *testing.B) {
			for b.Loop() {
				if look.Get(list[at]) == nil {
					b.Fatal("it was alive")
				}
				at = (at + 7919) % n
			}
		})
		s.Close()
		require.NoError(b, w.Close())
	}
}
