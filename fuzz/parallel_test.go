package fuzz_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/fuzz"
)

// TestWorkersAgree runs streams of jobs and of commands that they record on 1, 2, 4, 8 and 16
// workers: after each step the worlds have one hash.
func TestWorkersAgree(t *testing.T) {
	seeds, steps := effort(6, 120)
	u := newUniverse(t, 64<<20)
	failed := 0
	for seed := range uint64(seeds) {
		data := fuzz.Random(seed+3000, steps)
		one, err := fuzz.RunParallel(data, u, 1)
		require.NoError(t, err)
		require.Equal(t, steps, one.Steps)
		failed += one.Failed
		for _, workers := range []int{2, 4, 8, 16} {
			many, err := fuzz.RunParallel(data, u, workers)
			require.NoError(t, err, "%d workers", workers)
			require.Equal(t, one, many, "seed %d, %d workers", seed, workers)
			require.Zero(t, u.Stats().LiveChunks)
		}
	}
	require.Positive(t, failed)
}
