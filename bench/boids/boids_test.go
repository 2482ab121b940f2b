package boids

import (
	"math/cmplx"
	"testing"

	"github.com/stretchr/testify/require"
)

// Both sides agree to the bit, in each frame.
func TestSidesAgree(t *testing.T) {
	for _, n := range []int{1, 2, 500, 3000} {
		plain := NewPlain(n)
		ours, err := NewWorld(n)
		require.NoError(t, err)
		for frame := range 30 {
			require.NoError(t, plain.Step(Lure(frame)))
			require.NoError(t, ours.Step(Lure(frame)))
			require.Equal(t, plain.Birds, ours.Birds(nil), "frame %d", frame)
		}
		require.NoError(t, ours.Close())
	}
}

// TestNeighbors compares a frame with one that looks for each bird at all others, without a grid.
func TestNeighbors(t *testing.T) {
	const n = 300
	p := NewPlain(n)
	for frame := range 40 {
		before := append([]Bird(nil), p.Birds...)
		require.NoError(t, p.Step(Lure(frame)))
		lure := times(Lure(frame), p.grid.side)
		near := 0
		for i, b := range before {
			seen := inOrder(p.grid, before, b)
			require.Equal(t, slowFly(b, seen, lure), p.Birds[i], "frame %d, bird %d", frame, i)
			near += len(seen)
		}
		require.Greater(t, near, n, "birds see others")
	}
}

// inOrder returns the birds that b sees, in the order of cells.
func inOrder(g *grid, birds []Bird, b Bird) (seen []Bird) {
	column, row := g.place(b.P)
	for k := range 9 {
		for _, other := range birds {
			if g.cell(g.place(other.P)) == g.cell(column+k%3-1, row+k/3-1) {
				seen = append(seen, other)
			}
		}
	}
	return seen
}

// slowFly is fly with the rules written one by one.
func slowFly(b Bird, seen []Bird, lure complex64) Bird {
	n, along, apart := float32(1), complex64(0), times(lure-b.P, 0.3)
	for _, other := range seen {
		d := other.P - b.P
		if r := size(d); r > 0 && r < reach {
			n++
			along = along + other.V - b.V + d + d
			apart -= times(d, 50/(r*r))
		}
	}
	b.V += times(times(along, 1/n)+apart, dt)
	b.V = times(b.V, min(max(size(b.V), slowest), fastest)/size(b.V))
	b.P += times(b.V, dt)
	return b
}

// TestFlock: birds keep to their speeds, and those that fly near each other fly the same way.
func TestFlock(t *testing.T) {
	p := NewPlain(2000)
	before := alike(p)
	for frame := range 150 {
		require.NoError(t, p.Step(Lure(frame)))
	}
	for _, b := range p.Birds {
		require.InDelta(t, (slowest+fastest)/2, cmplx.Abs(complex128(b.V)), (fastest-slowest)/2+0.01)
	}
	require.Less(t, before, 0.1)
	require.Greater(t, alike(p), 0.3)
}

// alike returns the mean cosine of the angle between a bird's flight and that of others in its
// cell, which the grid of the last frame had.
func alike(p *Plain) float64 {
	g := newGrid(len(p.Birds))
	g.count(p.Birds)
	g.counted()
	g.put(p.Birds)
	sum, n := 0.0, 0
	for _, b := range p.Birds {
		for _, other := range g.birds(g.place(b.P)) {
			if other != b && b.V != 0 && other.V != 0 {
				turn := complex128(b.V) * cmplx.Conj(complex128(other.V))
				sum, n = sum+real(turn)/cmplx.Abs(turn), n+1
			}
		}
	}
	return sum / float64(max(n, 1))
}

// The lure moves, and stays on the plane.
func TestLure(t *testing.T) {
	require.NotEqual(t, Lure(0), Lure(1))
	for frame := range 400 {
		x, y := real(Lure(frame)), imag(Lure(frame))
		require.True(t, x > 0.2 && x < 0.8 && y > 0.2 && y < 0.8)
	}
}

func BenchmarkFrame(b *testing.B) {
	const n = 100_000
	plain := NewPlain(n)
	ours, err := NewWorld(n)
	require.NoError(b, err)
	for name, step := range map[string]func(complex64) error{"plain": plain.Step, "quarry": ours.Step} {
		b.Run("side="+name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				require.NoError(b, step(Lure(i)))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/bird")
		})
	}
	require.NoError(b, ours.Close())
}
