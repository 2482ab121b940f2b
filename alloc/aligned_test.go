package alloc_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// TestAllocAligned takes runs of every power of two among single chunks: each is
// a multiple of its length, and the universe fills to the last chunk.
func TestAllocAligned(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(4 << 20))
	require.NoError(t, err)
	type run struct {
		first alloc.ChunkIndex
		n     int
	}
	var runs []run
	held := 0
	for n := 64; n >= 1; n /= 2 {
		for range 2 {
			if held+n > u.Size()/alloc.ChunkSize {
				break
			}
			c, err := u.AllocAligned(n)
			require.NoError(t, err)
			require.Zero(t, int(c)%n, "%d chunks at %d", n, c)
			runs = append(runs, run{c, n})
			held += n
			require.NoError(t, u.Verify())
		}
	}
	for c, err := u.AllocAligned(1); err == nil; c, err = u.AllocAligned(1) {
		runs = append(runs, run{c, 1})
		held++
	}
	require.Equal(t, u.Size()/alloc.ChunkSize, held)
	for _, n := range []int{1, 2, 64} {
		_, err = u.AllocAligned(n)
		require.ErrorIs(t, err, alloc.ErrFull)
		require.ErrorContains(t, err, fmt.Sprintf("alloc: Universe.AllocAligned: no room for %d chunks", n))
	}
	for _, r := range runs {
		u.Free(r.first, r.n)
	}
	require.Zero(t, u.Stats().LiveChunks)
	for _, n := range []int{-2, 0, 3, 63, 65, 128} {
		require.PanicsWithValue(t, fmt.Sprintf("alloc: Universe.AllocAligned: n=%d is not a power of two in 1..64", n),
			func() { _, _ = u.AllocAligned(n) })
	}
	require.NoError(t, u.Close())
}

// TestAllocAlignedAmongHoles leaves pairs free at odd offsets: no aligned pair is
// there, though runs of two are.
func TestAllocAlignedAmongHoles(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(2 << 20))
	require.NoError(t, err)
	for range 2 {
		_, err = u.AllocExact(64)
		require.NoError(t, err)
	}
	for c := alloc.ChunkIndex(1); c+2 < 64; c += 4 {
		u.Free(c, 2)
	}
	_, err = u.AllocAligned(2)
	require.ErrorIs(t, err, alloc.ErrFull)
	c, err := u.AllocExact(2)
	require.NoError(t, err)
	u.Free(c, 2)
	u.Free(c+2, 1)
	c, err = u.AllocAligned(2)
	require.NoError(t, err)
	require.Zero(t, c%2)
	require.NoError(t, u.Verify())
}
