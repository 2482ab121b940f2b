package alloc_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// TestRoundsDoNotThrash frees and takes again 20 MiB in each round, with nothing
// retained: memory stays, because it is never empty for long.
func TestRoundsDoNotThrash(t *testing.T) {
	u := newUniverse(t, alloc.Size(32<<20), alloc.Retain(0), alloc.PurgeAfter(time.Hour))
	for range 5 {
		var all []alloc.ChunkIndex
		for range 20 {
			c, err := u.AllocExact(64)
			require.NoError(t, err)
			all = append(all, c)
		}
		for _, c := range all {
			u.Free(c, 64)
		}
		require.Equal(t, 20<<20, u.Stats().Committed)
	}
}

// TestFreeingPurges frees memory and, after the delay, some more: the first goes.
func TestFreeingPurges(t *testing.T) {
	const delay = 20 * time.Millisecond
	u := newUniverse(t, alloc.Size(32<<20), alloc.Retain(0), alloc.PurgeAfter(delay))
	var all []alloc.ChunkIndex
	for range 32 {
		c, err := u.AllocExact(64)
		require.NoError(t, err)
		all = append(all, c)
	}
	for i, c := range all {
		u.Free(c, 64)
		if i%2 == 1 { // a granule has become empty
			time.Sleep(delay / 4)
		}
	}
	require.Less(t, u.Stats().Committed, 32<<20)
	require.NoError(t, u.Verify())
}
