//go:build goexperiment.simd && (amd64 || go1.27)

package vectors

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func skipWithoutVectors(tb testing.TB) {
	if !CanMove() {
		tb.Skip("the CPU has no AVX")
	}
}

// TestMoveVectors: every length up to several vectors, and every chunk of a world, is as the plain
// twin has it, and nothing behind the column is written.
func TestMoveVectors(t *testing.T) {
	skipWithoutVectors(t)
	for n := range 70 {
		p, v := make([]Place, n+3), make([]Speed, n+1)
		for i := range v {
			p[i], v[i] = Place{X: 1 / float64(i+1), Y: float64(i)}, Speed{X: float64(i) / 3, Y: -7}
		}
		want := slices.Clone(p)
		Move(want[:n], v)
		MoveVectors(p[:n], v)
		require.Equal(t, want, p, "n = %d", n)
	}
	q, place, speed := world(t, 5000)
	var places [2][]Place
	for i, loop := range []func([]Place, []Speed){Move, MoveVectors} {
		for rows := range q.Rows() {
			clear(place.Slice(rows))
		}
		moveAll(q, place, speed, loop)
		places[i] = place.Values(q, nil)
	}
	require.Equal(t, places[0], places[1])
	require.Len(t, places[1], 5000)
}

// TestDecayVectors: every length up to several vectors is as the plain twin has it.
func TestDecayVectors(t *testing.T) {
	skipWithoutVectors(t)
	for n := range 70 {
		energy, cost := make([]float64, n+3), make([]float64, n+1)
		for i := range cost {
			energy[i], cost[i] = 1/float64(i+1), float64(i%3)/7
		}
		want := slices.Clone(energy)
		Decay(want[:n], cost)
		DecayVectors(energy[:n], cost)
		require.Equal(t, want, energy, "n = %d", n)
	}
}

func BenchmarkDecay(b *testing.B) {
	skipWithoutVectors(b)
	for _, n := range []int{256, 2048, 32_768} {
		energy, cost := make([]float64, n), make([]float64, n)
		for _, way := range []struct {
			name string
			loop func(energy, cost []float64)
		}{{"plain", Decay}, {"vectors", DecayVectors}} {
			b.Run(fmt.Sprintf("n=%d/way=%s", n, way.name), func(b *testing.B) {
				for b.Loop() {
					way.loop(energy, cost)
				}
			})
		}
	}
}

func BenchmarkVectors(b *testing.B) {
	skipWithoutVectors(b)
	for _, n := range []int{128, 1000, 16_000} {
		p, v := make([]Place, n), make([]Speed, n)
		for _, way := range []struct {
			name string
			loop func([]Place, []Speed)
		}{{"plain", Move}, {"vectors", MoveVectors}} {
			b.Run(fmt.Sprintf("n=%d/way=%s", n, way.name), func(b *testing.B) {
				for b.Loop() {
					way.loop(p, v)
				}
			})
		}
	}
}
