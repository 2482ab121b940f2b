package delta_test

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"

	"quarry/ecs/internal/delta"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestAppendedDeltaModel: the delta of two snapshots, read where they have their rows while the
// world goes on, makes a fork of the older state equal to the newer one: whatever happened in
// between, and whatever happens meanwhile.
func TestAppendedDeltaModel(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 12
	}
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 7))
		x := ecstest.RegisterKinds(ecstest.NewWorld(t))
		for range rng.IntN(400) {
			x.Step(t, rng)
		}
		fork, err := ecstest.Fork(x.World)
		require.NoError(t, err)
		y := ecstest.RegisterKinds(fork)
		var spare delta.Spare
		older := x.World.Snapshot()
		for round := range 4 {
			for range rng.IntN(1 << rng.IntN(9)) {
				x.Step(t, rng)
			}
			want := x.State()
			newer := x.World.Snapshot()
			var b []byte
			var beside sync.WaitGroup
			beside.Go(func() { b, err = door.AppendDelta(nil, older, newer, &spare) })
			for range rng.IntN(60) {
				x.Step(t, rng)
			}
			beside.Wait()
			require.NoError(t, err, "seed %d, round %d", seed, round)
			require.NoError(t, fork.ApplyDelta(bytes.NewReader(b)), "seed %d, round %d", seed, round)
			require.NoError(t, fork.Verify(), "seed %d, round %d", seed, round)
			require.Equal(t, want, y.State(), "seed %d, round %d", seed, round)
			older.Close()
			older = newer
		}
		older.Close()
		require.NoError(t, fork.Close())
	}
}
