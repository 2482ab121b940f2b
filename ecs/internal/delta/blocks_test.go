package delta_test

import (
	"bytes"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestDeltaOfManyIDs: blocks of ids that were made meanwhile, of the owner and of reservations,
// come to the world, also where all their entities have ended.
func TestDeltaOfManyIDs(t *testing.T) {
	w := ecstest.NewWorld(t)
	fork, err := ecstest.Fork(w)
	require.NoError(t, err)
	x, y := ecstest.RegisterKinds(w), ecstest.RegisterKinds(fork)
	plain := ecs.NewArchetype(w)
	apply := func() {
		t.Helper()
		require.NoError(t, fork.ApplyDelta(bytes.NewReader(encoded(t, fork, w))))
		require.NoError(t, fork.Verify())
		require.Equal(t, x.State(), y.State())
	}
	reserved := ecstest.Reserve(t, w, 20_000)
	apply()
	batch, err := plain.CreateN(40_000)
	require.NoError(t, err)
	ids := batch.Entities(nil)
	ecstest.CreateReserved(t, plain, reserved[5000:9000])
	apply()
	w.Unreserve(reserved[:5000])
	for _, e := range ids[100:30_000] {
		w.Destroy(e)
	}
	apply()
	w.Clear()
	ecstest.Reserve(t, w, 30_000)
	apply()
	require.Equal(t, x.NextIDs(t), y.NextIDs(t))
	require.NoError(t, fork.Close())
}
