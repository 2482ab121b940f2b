package fuzz_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/fuzz"
)

func TestTransformStream(t *testing.T) {
	seeds, steps := effort(20, 2_000)
	var computed atomic.Int64
	t.Run("seeds", func(t *testing.T) {
		eachSeed(t, seeds, func(t *testing.T, seed uint64) {
			u := newUniverse(t, 32<<20)
			data := fuzz.Random(seed, steps)
			data[1] &^= 1
			if seed%4 == 0 {
				data[1] |= 1 // with a large tree
				data = data[:len(data)/4]
			}
			done, n, err := fuzz.RunTransforms(data, u)
			require.NoError(t, err)
			require.NotZero(t, done)
			require.Zero(t, u.Stats().LiveChunks)
			computed.Add(int64(n))
		})
	})
	require.Greater(t, int(computed.Load()), seeds*steps)
}

// FuzzTransforms searches for streams.
func FuzzTransforms(f *testing.F) {
	f.Add([]byte{})
	for seed := range uint64(6) {
		f.Add(fuzz.Random(seed, 40))
	}
	u := newUniverse(f, 32<<20)
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _, err := fuzz.RunTransforms(data[:min(len(data), longestFuzz)], u)
		require.NoError(t, err)
	})
}
