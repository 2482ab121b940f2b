package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	for _, small := range []bool{false, true} {
		var out bytes.Buffer
		require.NoError(t, run(&out, 20_000, 2, small))
		for _, text := range []string{"20000 entries of uint64, 2 rounds", "the same by GetMany", "100th slowest"} {
			require.Contains(t, out.String(), text)
		}
	}
	require.ErrorContains(t, run(nil, 0, 1, false), "-n 0 -rounds 1: want 1 at least")
}

// TestFigures: what both maps find is told by a sum, and every figure is there.
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
	require.Len(t, ours.slowest, 3)
	require.GreaterOrEqual(t, ours.slowest[0], ours.slowest[2])
}
