package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// slowQuantile sorts the list and takes sample number q n, rounded, counted from 1.
func slowQuantile(list []time.Duration, q float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	at := int(math.Round(q*float64(len(sorted)))) - 1
	return float64(sorted[max(at, 0)])
}

func TestQuantilesAgainstSort(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for name, draw := range map[string]func() time.Duration{
		"narrow": func() time.Duration { return time.Duration(10 + rng.IntN(90)) },
		"wide":   func() time.Duration { return time.Duration(math.Exp(3 + 15*rng.Float64())) },
		"tail": func() time.Duration {
			if rng.IntN(200) == 0 {
				return time.Duration(100_000 + rng.IntN(1e6))
			}
			return time.Duration(200 + rng.IntN(20))
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{1, 2, 99, 1000, 20_011} {
				s := newSampler(1000, 0, 1000)
				require.Equal(t, 1, s.batch)
				list := make([]time.Duration, n)
				for i := range list {
					list[i] = draw()
					s.record(list[i])
				}
				for _, q := range []float64{0.5, 0.99, 0.999} {
					want := slowQuantile(list, q)
					require.InEpsilon(t, want, s.quantile(q), 0.002, "n=%d q=%v", n, q)
				}
			}
		})
	}
}

func TestSamplerBatches(t *testing.T) {
	const clock = 20 * time.Nanosecond
	for ns, want := range map[float64]int{0.1: 64, 3: 64, 10: 16, 40: 4, 159: 2, 160: 1, 1e6: 1} {
		require.Equal(t, want, newSampler(ns, clock, 1000).batch, "%v ns a step", ns)
	}
	for steps, want := range map[int]int{0: 1, 12: 1, 82: 16, 200: 32, 512: 64} {
		require.Equal(t, want, newSampler(1, clock, steps).batch, "%v steps", steps)
	}
	s := newSampler(40, clock, 1000)
	s.begin()
	for range 11 {
		s.step()
	}
	require.Equal(t, int64(2), s.h.TotalCount())
	require.Equal(t, 3, s.n)
	s.begin()
	require.Zero(t, s.n)
}

// TestSamplerTakesTheClockOff: a sample of 4 steps in 100 ns, with a clock of 20, is 20 ns per
// step; a sample shorter than the clock's time counts as next to nothing.
func TestSamplerTakesTheClockOff(t *testing.T) {
	s := newSampler(40, 20, 1000)
	s.record(100)
	require.InEpsilon(t, 20.0, s.quantile(0.5), 0.001)
	s = newSampler(40, 20, 1000)
	s.record(10)
	require.InDelta(t, 0.0, s.quantile(1), 0.02)
	s.record(time.Hour)
	require.InEpsilon(t, float64(time.Minute), s.quantile(1), 0.002)
}

func TestSamplersJoin(t *testing.T) {
	s := newSampler(1000, 0, 1000)
	other := s.fork()
	s.record(100)
	for range 9 {
		other.record(300)
	}
	s.join(other)
	require.Equal(t, int64(10), s.h.TotalCount())
	require.InEpsilon(t, 100.0, s.quantile(0.1), 0.001)
	require.InEpsilon(t, 300.0, s.quantile(0.5), 0.001)
	var none *sampler
	none.begin()
	none.step()
	none.join(none.fork())
	require.Nil(t, none.fork())
}

func TestClockCost(t *testing.T) {
	require.Less(t, clockCost(), time.Millisecond)
	require.GreaterOrEqual(t, clockCost(), time.Duration(0))
}
