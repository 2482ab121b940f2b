package fuzz_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/fuzz"
)

func TestUniverseStream(t *testing.T) {
	seeds, steps := effort(20, 5_000)
	eachSeed(t, seeds, func(t *testing.T, seed uint64) {
		done, err := fuzz.RunUniverse(fuzz.Random(seed, steps))
		require.NoError(t, err)
		require.Equal(t, steps, done)
	})
}

func FuzzUniverse(f *testing.F) {
	f.Add([]byte{})
	for seed := range uint64(6) {
		f.Add(fuzz.Random(seed, 40))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := fuzz.RunUniverse(data[:min(len(data), longestFuzz)])
		require.NoError(t, err)
	})
}
