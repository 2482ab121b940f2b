package mmap_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/mmap"
)

// TestFine: a granule is fine until it is switched off, the whole region has small pages, or the
// region ends; contents and states do not change.
func TestFine(t *testing.T) {
	onEach(t, func(t *testing.T, s *mmap.Space) {
		r := reserve(t, s, 4*g)
		require.NoError(t, r.Commit(0, 2*g))
		r.Bytes()[g] = 9
		if err := r.Fine(g, true); err != nil {
			require.ErrorIs(t, err, mmap.ErrUnsupported)
			require.NoError(t, r.Fine(g, false), "it is off")
			require.Zero(t, r.FineSize())
			require.NoError(t, r.Release())
			return
		}
		require.NoError(t, r.Fine(g, true)) // again
		require.NoError(t, r.Fine(3*g, true), "a reserved granule")
		require.Equal(t, []int{2 * g, 3}, []int{r.FineSize(), s.Runs()}, "one run is ready, two are fine")
		require.Equal(t, byte(9), r.Bytes()[g])
		require.NoError(t, r.Decommit(g, g))
		require.NoError(t, r.Commit(g, 3*g))
		requireZero(t, r, g, 3*g)
		require.Equal(t, 2*g, r.FineSize(), "it holds through Decommit and Commit")
		require.NoError(t, r.Fine(3*g, false))
		require.Equal(t, g, r.FineSize())
		require.NoError(t, r.Hint(mmap.SmallPages, true))
		require.Zero(t, r.FineSize())
		require.ErrorIs(t, r.Fine(0, true), mmap.ErrUnsupported)
		require.NoError(t, r.Hint(mmap.SmallPages, false))
		require.NoError(t, r.Fine(0, true))
		require.NoError(t, r.Verify())
		require.NoError(t, r.Release())
		require.Zero(t, r.FineSize())
		require.Zero(t, s.Runs())
	})
}

// TestFineCostsMappings: where the process cannot afford a run more, the granule stays as it is.
func TestFineCostsMappings(t *testing.T) {
	for name, backing := range mmap.Backings() {
		s := mmap.NewSpace(mmap.Frugal{Backing: backing(), Limit: 2})
		r := reserve(t, s, 5*g)
		require.NoError(t, r.Commit(0, 5*g))
		if r.Fine(0, true) != nil {
			t.Log("no granules that are fine: ", name)
			continue
		}
		require.ErrorIs(t, r.Fine(2*g, true), mmap.ErrMemory)
		require.NoError(t, r.Fine(g, true), "the same run")
		require.Equal(t, []int{2 * g, 2}, []int{r.FineSize(), s.Runs()})
		require.NoError(t, r.Verify())
		require.NoError(t, r.Release())
	}
}
