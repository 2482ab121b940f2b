//go:build !race

package mmap_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/mmap"
)

// TestReserveIsNotCharged: 16 GiB of address space without access, and without
// the kernel counting it as memory that it has promised ("ac" in VmFlags is
// accounted, "nr" is without a reservation).
func TestReserveIsNotCharged(t *testing.T) {
	r, err := mmap.Reserve(16 << 30)
	require.NoError(t, err)
	all := mappings(t, r)
	require.NotEmpty(t, all)
	for _, m := range all {
		require.Equal(t, "---p", m.access)
		require.Contains(t, m.flags, " nr ")
		require.NotContains(t, m.flags, " ac ")
	}
	require.Zero(t, rss(all))
	require.NoError(t, r.Release())
}
