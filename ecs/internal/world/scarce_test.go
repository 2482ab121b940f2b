package world_test

import (
	"math/rand/v2"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/mmap"

	"github.com/stretchr/testify/require"
)

// TestClosedWorldsLeaveNoPile opens and closes worlds of many sizes, a few at a time, on
// each backing: what closed ones leave parked does not grow with their number.
func TestClosedWorldsLeaveNoPile(t *testing.T) {
	const most = 32 << 20
	random := rand.New(rand.NewPCG(2, 23))
	_, before := mmap.Parked()
	for range 100 {
		var open []*ecs.World
		for range 1 + random.IntN(3) {
			u, err := alloc.NewUniverse(alloc.Size(1 + random.IntN(most)))
			require.NoError(t, err)
			w, err := ecs.NewWorld(ecs.WithUniverse(u))
			require.NoError(t, err)
			ecs.NewArchetype(w, ecs.Register[ecstest.Position](w)).Create()
			open = append(open, w)
		}
		for _, w := range open {
			require.NoError(t, w.Close())
			require.NoError(t, w.Universe().Close())
		}
	}
	_, after := mmap.Parked()
	require.LessOrEqual(t, after-before, 8*most)
}
