package main

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInvert multiplies random matrices with their inverses.
func TestInvert(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		var m Transform
		for i := range m {
			m[i] = random.Float32() - 0.5
			if i%5 == 0 {
				m[i] += 3
			}
		}
		inverse := m
		inverse.invert()
		for column := range 4 {
			for row := range 4 {
				sum := float32(0)
				for k := range 4 {
					sum += m[4*k+row] * inverse[4*column+k]
				}
				require.InDelta(t, identity[4*column+row], sum, 1e-5)
			}
		}
	}
}

// TestRotationTurns: a turn about x keeps x, and keeps lengths.
func TestRotationTurns(t *testing.T) {
	m := rotation()
	p := m.turned(Position3{2, 3, 4})
	require.Equal(t, float32(2), p.X)
	require.InDelta(t, 25, p.Y*p.Y+p.Z*p.Z, 1e-4)
	require.NotEqual(t, float32(3), p.Y)
}

// TestSuiteNoticesPasses: a check fails if the number of passes is one more or less than expected.
func TestSuiteNoticesPasses(t *testing.T) {
	for _, name := range []string{iteration, fragments, schedule, heavy} {
		for _, way := range waysOf(name) {
			for passes := range 3 {
				built, err := way.build(100)
				require.NoError(t, err)
				built.(repeated).pass(3)
				if name == schedule && passes == 1 {
					require.NoError(t, built.check(passes), "two swaps are none")
				} else {
					require.ErrorIs(t, built.check(passes), errWrong, "%s on %s", way.entrant, name)
				}
				require.NoError(t, built.close())
			}
		}
	}
}

// TestFragmentsAfterInfinity: doubling is still checked after every Datum was infinite.
func TestFragmentsAfterInfinity(t *testing.T) {
	for _, way := range waysOf(fragments) {
		built, err := way.build(100)
		require.NoError(t, err)
		built.(repeated).pass(1000)
		require.NoError(t, built.check(1000))
		built.(repeated).pass(2)
		require.NoError(t, built.check(1002))
		built.(repeated).pass(1)
		require.ErrorIs(t, built.check(1004), errWrong)
		require.NoError(t, built.close())
	}
}

func TestChecksum(t *testing.T) {
	var a, b, c checksum
	a.add(2, 1, 2)
	b.add(1, 1, 2)
	b.add(1, 1, 2)
	require.Equal(t, a, b)
	c.add(1, 1, 2)
	c.add(1, 2, 1)
	require.ErrorIs(t, c.want(a), errWrong)
}
