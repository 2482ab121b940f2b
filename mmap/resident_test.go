package mmap_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/mmap"
)

// TestResident touches pages and counts them.
func TestResident(t *testing.T) {
	r, err := mmap.Reserve(4 * g)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Release()) }()
	if !mmap.Real || runtime.GOOS != "linux" {
		require.NoError(t, r.Commit(0, g))
		_, err := r.Resident()
		require.ErrorIs(t, err, mmap.ErrUnsupported)
		return
	}
	require.NoError(t, r.Hint(mmap.SmallPages, true))
	require.NoError(t, r.Commit(g, 2*g))
	got, err := r.Resident()
	require.NoError(t, err)
	require.Zero(t, got)
	for i := range 5 {
		dirty(r, g+3*i*page, page)
	}
	got, err = r.Resident()
	require.NoError(t, err)
	require.Equal(t, 5*page, got)
	require.NoError(t, r.Decommit(g, g))
	got, err = r.Resident()
	require.NoError(t, err)
	require.Zero(t, got)
}

func TestResidentAfterRelease(t *testing.T) {
	r, err := mmap.Reserve(g)
	require.NoError(t, err)
	require.NoError(t, r.Release())
	require.PanicsWithValue(t, "mmap: Resident: the region has been released", func() { _, _ = r.Resident() })
}
