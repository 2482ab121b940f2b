package main

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	for _, small := range []bool{false, true} {
		var out bytes.Buffer
		require.NoError(t, run(&out, 20_000, 2, small))
		for _, text := range []string{"20000 entries of uint64, 2 rounds", "the same by GetMany", "memory made ready",
			"the goal is 100 us"} {
			require.Contains(t, out.String(), text)
		}
	}
	require.ErrorContains(t, run(nil, 0, 1, false), "-n 0 -rounds 1: want 1 at least")
}

// TestFigures: a sum shows that both maps find the same, and every figure is there.
func TestFigures(t *testing.T) {
	plain := goMap(5000)
	ours, err := quarryMap(5000, false)
	require.NoError(t, err)
	require.Equal(t, plain.sum, ours.sum)
	require.NotZero(t, ours.sum)
	for _, row := range rows {
		require.Positive(t, row.of(plain), row.name)
		require.Positive(t, row.of(ours), row.name)
	}
}

// TestWaits: each kind of filling has its figures, and memory that was made ready is enough.
func TestWaits(t *testing.T) {
	const n = 30_000
	kinds, end, err := allKinds(n, false)
	require.NoError(t, err)
	times := make([]time.Duration, n)
	for range 2 {
		for _, k := range kinds {
			require.NoError(t, k.run(times))
		}
	}
	for _, k := range kinds {
		require.Positive(t, k.top[0], k.name)
		require.GreaterOrEqual(t, k.top[0], k.top[2], k.name)
		require.Equal(t, k.least != nil, k.alike, k.name)
		if k.alike {
			require.LessOrEqual(t, slices.Max(k.least), k.top[0], k.name)
		}
	}
	require.NoError(t, end())
}
