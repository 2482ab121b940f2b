package fuzz_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/fuzz"
)

// TestHistoriesAreLinearizable runs universes of one and two granules under 2 to 8 goroutines.
func TestHistoriesAreLinearizable(t *testing.T) {
	seeds, calls := effort(60, 250)
	for _, goroutines := range []int{2, 3, 4, 8} {
		for granules := 1; granules <= 2; granules++ {
			t.Run(fmt.Sprintf("goroutines=%d/granules=%d", goroutines, granules), func(t *testing.T) {
				for seed := range uint64(seeds) {
					require.NoError(t, fuzz.RunHistory(seed, goroutines, granules, calls))
				}
			})
		}
	}
}
