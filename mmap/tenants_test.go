package mmap_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/mmap"
)

// TestRegionAt asks for first, last and outer bytes of regions that lie side by side,
// are released and come again.
func TestRegionAt(t *testing.T) {
	onEach(t, func(t *testing.T, s *mmap.Space) {
		one, two := reserve(t, s, 2*g), reserve(t, s, 3*g)
		check := func(p unsafe.Pointer, want *mmap.Region, offset int) {
			t.Helper()
			r, at, ok := s.RegionAt(p)
			if want == nil || !s.Faults() {
				require.False(t, ok)
				require.Nil(t, r)
				return
			}
			require.True(t, ok)
			require.Same(t, want, r)
			require.Equal(t, offset, at)
		}
		first := one.Base()
		for _, r := range []*mmap.Region{one, two} {
			for _, offset := range []int{0, 1, g, r.Size() - 1} {
				check(unsafe.Add(r.Base(), offset), r, offset) // Safe because the byte lies in the region.
			}
		}
		local := 0
		check(unsafe.Pointer(&local), nil, 0) // Safe because it is looked up, not followed.
		check(nil, nil, 0)
		require.NoError(t, one.Release())
		if s.Faults() {
			check(first, nil, 0)
			again := reserve(t, s, 2*g)
			check(first, again, 0)
			require.NoError(t, again.Release())
		}
		require.NoError(t, two.Release())
	})
	_, _, ok := mmap.RegionAt(nil)
	require.False(t, ok)
}
