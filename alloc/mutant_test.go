//go:build alloc_mutants

package alloc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// TestRollBackCatchesMutants plants the two defects of a refused commit; the
// others are caught by the histories of the fuzz module.
func TestRollBackCatchesMutants(t *testing.T) {
	defer alloc.Plant(0)
	for _, n := range []int{1, 2} {
		alloc.Plant(n)
		_, _, err, inUse := rollBackBeside(t)
		require.False(t, err == nil && inUse, "defect %d", n)
	}
	require.Panics(t, func() { alloc.Plant(alloc.HeapMutants + 1) })
}
