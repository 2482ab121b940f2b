package mmap_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/mmap"
)

// TestMost: where all ranges share one small space, as Go objects do in WebAssembly, what
// would not fit is refused, and ranges that wait for a Reserve of their size make room for
// other sizes.
func TestMost(t *testing.T) {
	narrow := func(size int) (*mmap.Space, *mmap.Flaky) {
		f := &mmap.Flaky{Backing: mmap.Backings()["goheap"]()}
		return mmap.NewSpace(mmap.Narrow{Backing: f, Most: size}), f
	}
	s, f := narrow(8 * g)
	refused := func(size int) {
		t.Helper()
		_, err := s.Reserve(size)
		require.ErrorIs(t, err, mmap.ErrMemory)
		require.ErrorContains(t, err, "more than all regions may have together")
		require.ErrorContains(t, err, "lower the size, or release some")
	}
	refused(9 * g)
	a, b := reserve(t, s, 4*g), reserve(t, s, 4*g)
	refused(g)
	require.NoError(t, a.Release())
	refused(5 * g) // what is parked would not be enough, and stays
	a = reserve(t, s, 4*g)
	require.Equal(t, 2, f.Live, "the parked one")
	require.NoError(t, a.Release())
	require.NoError(t, b.Release())
	a, b = reserve(t, s, 5*g), reserve(t, s, 3*g)
	regions, bytes := s.Parked()
	require.Zero(t, regions)
	require.Zero(t, bytes)
	require.Equal(t, 4, f.Live)
	refused(g)
	require.NoError(t, a.Release())
	require.NoError(t, b.Release())

	half, err := s.ReserveUpTo(12*g, g)
	require.NoError(t, err)
	require.Equal(t, 6*g, half.Size())
	require.NoError(t, half.Release())

	s, f = narrow(2 * g)
	f.At, f.Burst = 1, 1
	_, err = s.Reserve(2 * g)
	require.ErrorIs(t, err, mmap.ErrFlaky)
	require.NoError(t, reserve(t, s, 2*g).Release(), "a refused one counts for nothing")
}
