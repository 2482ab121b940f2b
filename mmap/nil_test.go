package mmap_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/internal/lint"
	"quarry/mmap"
)

func TestNil(t *testing.T) {
	lint.CheckNil(t,
		lint.NilPanics("Guarded", "mmap: Guarded: ", func() { _ = mmap.Guarded(nil) }),
		lint.NilPanics("Region.MapFile", "mmap: MapFile: ", func() {
			r, err := mmap.Reserve(mmap.Granule)
			require.NoError(t, err)
			defer func() { require.NoError(t, r.Release()) }()
			_ = r.MapFile(0, mmap.Granule, nil, 0)
		}),
		lint.NilReturns("RegionAt", func(t *testing.T) {
			r, _, ok := mmap.RegionAt(nil)
			require.False(t, ok)
			require.Nil(t, r)
		}),
	)
}
