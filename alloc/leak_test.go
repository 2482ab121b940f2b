package alloc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCloseListsWhatIsInUse: the error of a universe that cannot be closed has the places of chunks
// in use.
func TestCloseListsWhatIsInUse(t *testing.T) {
	u, err := NewUniverse(Size(8 << 20))
	require.NoError(t, err)
	one, err := u.AllocExact(1)
	require.NoError(t, err)
	run, err := u.AllocExact(3)
	require.NoError(t, err)
	rest := make([]ChunkIndex, 20)
	for i := range rest {
		rest[i], err = u.AllocExact(2)
		require.NoError(t, err)
	}
	for i := 0; i < len(rest); i += 2 {
		u.Free(rest[i], 2)
	}
	err = u.Close()
	require.ErrorIs(t, err, ErrInUse)
	require.ErrorContains(t, err, " chunks are in use, at ")
	require.ErrorContains(t, err, ", others; first close ")
	for i := 1; i < len(rest); i += 2 {
		u.Free(rest[i], 2)
	}
	require.ErrorContains(t, u.Close(), "4 chunks are in use, at 0-3; ")
	u.Free(run, 3)
	require.ErrorContains(t, u.Close(), "1 chunks are in use, at 0; ")
	u.Free(one, 1)
	require.NoError(t, u.Close())
}
