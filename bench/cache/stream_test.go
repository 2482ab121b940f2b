package main

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStreamIsZipf compares the shares of the first keys with Zipf's law, summed up term by term.
func TestStreamIsZipf(t *testing.T) {
	const keys, draws = 10_000, 400_000
	s, err := newStream(keys, draws)
	require.NoError(t, err)
	defer s.close()
	var counts [keys]int
	for _, n := range s.draws {
		counts[n]++
	}
	var weights [keys]float64
	all := 0.0
	for k := range weights {
		weights[k] = math.Pow(1+float64(k), -exponent)
		all += weights[k]
	}
	got, want := 0, 0.0
	for k := range keys {
		got += counts[k]
		want += weights[k] / all
		switch k + 1 {
		case 1, 2, 10, 100, 1000, 5000:
			// Five times the standard deviation of a share.
			require.InDelta(t, want, float64(got)/draws, 5*math.Sqrt(want*(1-want)/draws), "the first %d keys", k+1)
		}
	}
	again, err := newStream(keys, draws)
	require.NoError(t, err)
	defer again.close()
	require.Equal(t, s.draws, again.draws)
	at := 0
	require.Equal(t, s.draws[:7], s.take(&at, 7))
	require.Equal(t, s.draws[7:10], s.take(&at, 3))
}
