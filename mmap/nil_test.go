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
		lint.NilReturns("RegionAt", func(t *testing.T) {
			r, _, ok := mmap.RegionAt(nil)
			require.False(t, ok)
			require.Nil(t, r)
		}),
	)
}
