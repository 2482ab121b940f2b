package delta_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestDeltaModel: whatever has happened to a world since it was forked, the delta makes the fork
// equal, to the order of rows, the names and the next ids; and again, for the delta of what happens
// then.
func TestDeltaModel(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 1))
		x := ecstest.RegisterKinds(ecstest.NewWorld(t))
		for range rng.IntN(300) {
			x.Step(t, rng)
		}
		fork, err := ecstest.Fork(x.World)
		require.NoError(t, err)
		y := ecstest.RegisterKinds(fork)
		require.Equal(t, x.State(), y.State())
		for round := range 4 {
			for range rng.IntN(1 << rng.IntN(9)) {
				x.Step(t, rng)
			}
			delta := encoded(t, fork, x.World)
			err := fork.ApplyDelta(bytes.NewReader(delta))
			require.NoError(t, err, "seed %d, round %d", seed, round)
			require.NoError(t, fork.Verify(), "seed %d, round %d", seed, round)
			require.Equal(t, x.State(), y.State(), "seed %d, round %d", seed, round)
			d, err := diffWorlds(fork, x.World)
			require.NoError(t, err)
			require.True(t, d.IsEmpty() || onlyBoxes(d), "seed %d, round %d", seed, round)
		}
		require.Equal(t, x.NextIDs(t), y.NextIDs(t), "seed %d", seed)
		require.Equal(t, x.World.Hash(), fork.Hash())
		require.NoError(t, fork.Verify())
		require.NoError(t, fork.Close())
	}
}

// onlyBoxes reports whether two states differ at most in values of chunk types, which depend on how
// rows are cut into chunks.
func onlyBoxes(d *ecs.Delta) bool {
	for range d.Changed() {
		return false
	}
	return len(slices.Collect(d.Born()))+len(slices.Collect(d.Died())) == 0
}

// TestDeltaBesideSnapshots: a delta comes to a world that has snapshots, which keep what it writes:
// the world goes back to one of them, and the delta comes again.
func TestDeltaBesideSnapshots(t *testing.T) {
	for seed := range uint64(8) {
		x, y, delta := dent(t, 30+seed, 150)
		before, hash := y.State(), y.World.Hash()
		s, other := y.World.Snapshot(), y.World.Snapshot()
		for range 2 {
			require.NoError(t, y.World.ApplyDelta(bytes.NewReader(delta)))
			require.Equal(t, x.State(), y.State(), "seed %d", seed)
			require.Equal(t, hash, other.Hash(), "seed %d", seed)
			require.NoError(t, other.Verify())
			require.NoError(t, y.World.Verify())
			require.NoError(t, y.World.Restore(s), "seed %d", seed)
			require.Equal(t, before, y.State(), "seed %d", seed)
			require.NoError(t, y.World.Verify())
		}
	}
}
