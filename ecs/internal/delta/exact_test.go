package delta_test

import (
	"math/rand/v2"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestDeltaChangedIsExact: Changed yields the rows that differ and no neighbors, whatever the size
// of a value, and whichever of its bytes differ.
func TestDeltaChangedIsExact(t *testing.T) {
	changedOf[[1]byte](t)
	changedOf[[2]byte](t)
	changedOf[[3]byte](t)
	changedOf[[4]byte](t)
	changedOf[[7]byte](t)
	changedOf[[8]byte](t)
	changedOf[[9]byte](t)
	changedOf[[12]byte](t)
	changedOf[[14]byte](t)
	changedOf[[15]byte](t)
	changedOf[[16]byte](t)
	changedOf[[24]byte](t)
}

type byteArray interface {
	[1]byte | [2]byte | [3]byte | [4]byte | [7]byte | [8]byte | [9]byte | [12]byte |
		[14]byte | [15]byte | [16]byte | [24]byte
}

// changedOf changes single bytes of values of a type at random.
func changedOf[T byteArray](t *testing.T) {
	w := ecstest.NewWorld(t)
	of := ecs.Register[T](w)
	batch, err := ecs.NewArchetype(w, of).CreateN(700)
	require.NoError(t, err)
	list := batch.Entities(nil)
	rng := rand.New(rand.NewPCG(1, uint64(len(*of.Get(list[0])))))
	for _, part := range []int{40, 4, 1} { // one value in so many
		older, want := w.Snapshot(), map[ecs.Entity]bool{}
		for _, e := range list {
			if rng.IntN(part) == 0 {
				v := of.Mut(e)
				(*v)[rng.IntN(len(*v))]++
				want[e] = true
			}
		}
		newer := w.Snapshot()
		d, err := ecs.Diff(older, newer)
		require.NoError(t, err)
		got := map[ecs.Entity]bool{}
		for e := range d.Changed() {
			require.False(t, got[e], "twice")
			got[e] = true
		}
		require.Equal(t, want, got, "%T, one in %d", *of.Get(list[0]), part)
		older.Close()
		newer.Close()
	}
}
