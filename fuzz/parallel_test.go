package fuzz_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/fuzz"
)

// TestWorkersAgree runs streams of jobs, and of commands that the jobs record, on 1, 2, 4, 8 and 16
// workers: after each step the worlds have the same hash.
func TestWorkersAgree(t *testing.T) { workersAgree(t, 6, fuzz.RunParallel) }

// TestFramesOfWorkersAgree does the same with whole frames of systems, which come and go.
func TestFramesOfWorkersAgree(t *testing.T) { workersAgree(t, 4, fuzz.RunFrames) }

func workersAgree(t *testing.T, most int, run func([]byte, *alloc.Universe, int) (fuzz.ParallelResult, error)) {
	seeds, steps := effort(most, 120)
	u := newUniverse(t, 64<<20)
	failed := 0
	for seed := range uint64(seeds) {
		data := fuzz.Random(seed+3000, steps)
		one, err := run(data, u, 1)
		require.NoError(t, err)
		require.Equal(t, steps, one.Steps)
		failed += one.Failed
		for _, workers := range []int{2, 4, 8, 16} {
			many, err := run(data, u, workers)
			require.NoError(t, err, "%d workers", workers)
			require.Equal(t, one, many, "seed %d, %d workers", seed, workers)
			require.Zero(t, u.Stats().LiveChunks)
		}
	}
	require.Positive(t, failed)
}
