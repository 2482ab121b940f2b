package delta_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/delta"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestApplierModel: an Applier does with many small deltas what World.ApplyDelta does with each,
// also after deltas that were refused or damaged, and after the world went back to a snapshot.
func TestApplierModel(t *testing.T) {
	rounds := 30
	if testing.Short() {
		rounds = 8
	}
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 11))
		x := ecstest.RegisterKinds(ecstest.NewWorld(t))
		for range rng.IntN(300) {
			x.Step(t, rng)
		}
		var forks [2]*ecs.World
		for i := range forks {
			fork, err := ecstest.Fork(x.World)
			require.NoError(t, err)
			forks[i] = fork
		}
		plain, y := forks[0], ecstest.RegisterKinds(forks[1])
		var a delta.Applier
		for range 30 {
			for range rng.IntN(4) {
				x.Step(t, rng)
			}
			b := encoded(t, plain, x.World)
			disturb(t, rng, &a, y, b)
			require.NoError(t, plain.ApplyDelta(bytes.NewReader(b)), "seed %d", seed)
			require.NoError(t, a.Apply(door.World(y.World), b), "seed %d", seed)
			require.NoError(t, y.World.Verify(), "seed %d", seed)
			require.Equal(t, plain.Hash(), y.World.Hash(), "seed %d", seed)
		}
		require.Equal(t, x.State(), y.State(), "seed %d", seed)
		require.Equal(t, x.NextIDs(t), y.NextIDs(t), "seed %d", seed)
		for _, fork := range forks {
			require.NoError(t, fork.Close())
		}
	}
}

// disturb does one of what must not change what the delta b does to y.
func disturb(t *testing.T, rng *rand.Rand, a *delta.Applier, y *ecstest.Kinds, b []byte) {
	before, w := y.World.Hash(), door.World(y.World)
	switch rng.IntN(5) {
	case 0: // damaged behind the frame: it is refused, or does what another delta may do
		bad := bytes.Clone(b)
		bad[delta.DeltaFrame+rng.IntN(len(b)-delta.DeltaFrame-4)] ^= 1 << rng.IntN(8)
		s := y.World.Snapshot()
		if a.Apply(w, bad) == nil {
			require.NoError(t, y.World.Restore(s))
		}
		s.Close()
	case 1: // cut
		require.ErrorIs(t, a.Apply(w, b[:rng.IntN(len(b))]), ecs.ErrDelta)
	case 2: // applied, taken back, and refused twice
		s := y.World.Snapshot()
		require.NoError(t, a.Apply(w, b))
		if y.World.Hash() != before {
			require.Error(t, a.Apply(w, b))
		}
		require.NoError(t, y.World.Restore(s))
		s.Close()
	case 3: // the world changes, and goes back
		s := y.World.Snapshot()
		var some []ecs.Entity
		for rows := range ecs.NewQuery(y.World).Rows() {
			some = append(some, rows.Entities()[rng.IntN(rows.Len())])
		}
		for _, e := range some[:min(len(some), 2)] {
			y.World.Destroy(e)
			ecs.NewArchetype(y.World, y.Position).Create()
		}
		if y.World.Hash() != before {
			_ = a.Apply(w, b) // refused, unless the delta does not look at what changed
		}
		require.NoError(t, y.World.Restore(s))
		s.Close()
	}
	require.Equal(t, before, y.World.Hash())
	require.NoError(t, y.World.Verify())
}
