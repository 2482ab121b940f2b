package fuzz_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/fuzz"
)

func bakedSections(t testing.TB, folder string) *fuzz.SectionFiles {
	f, err := fuzz.BakeSections(folder)
	require.NoError(t, err)
	return f
}

func TestSectionStream(t *testing.T) {
	seeds, steps := effort(20, 400)
	files := bakedSections(t, t.TempDir())
	t.Run("seeds", func(t *testing.T) {
		eachSeed(t, seeds, func(t *testing.T, seed uint64) {
			done, err := fuzz.RunSections(fuzz.Random(seed, steps), files, t.TempDir())
			require.NoError(t, err)
			require.Equal(t, steps, done)
		})
	})
}

func FuzzSections(f *testing.F) {
	f.Add([]byte{})
	for seed := range uint64(4) {
		f.Add(fuzz.Random(seed, 40))
	}
	files := bakedSections(f, f.TempDir())
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := fuzz.RunSections(data[:min(len(data), longestFuzz)], files, t.TempDir())
		require.NoError(t, err)
	})
}
