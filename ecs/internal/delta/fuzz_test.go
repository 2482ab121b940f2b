package delta_test

import (
	"bytes"
	"errors"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// FuzzApplyDelta applies a delta whose content is the fuzzer's, under a right checksum, to the
// worlds for which the seeds were made. The world must be as before, or sound.
func FuzzApplyDelta(f *testing.F) {
	_, y, delta := dent(f, 2, 40)
	f.Add(delta[20 : len(delta)-4])
	w := ecstest.NewWorld(f)
	older, err := ecstest.Fork(w)
	require.NoError(f, err)
	f.Cleanup(func() { require.NoError(f, older.Close()) })
	ecs.NewArchetype(w).Create()
	small := encoded(f, older, w)
	f.Add(small[20 : len(small)-4])
	f.Fuzz(func(t *testing.T, content []byte) {
		all := append(bytes.Clone(delta[:20]), content...)
		all = seal(append(all, 0, 0, 0, 0))
		for _, origin := range []*ecs.World{y.World, older} {
			world, err := ecstest.Fork(origin)
			require.NoError(t, err)
			before := world.Hash()
			if err := world.ApplyDelta(bytes.NewReader(all)); err != nil {
				var limit *ecs.LimitError
				require.True(t, errors.Is(err, ecs.ErrDelta) || errors.As(err, &limit), "%v", err)
				require.Equal(t, before, world.Hash())
			}
			require.NoError(t, world.Verify())
			require.NoError(t, world.Close())
		}
	})
}
