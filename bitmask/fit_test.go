package bitmask_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bitmask"
)

// TestFitAvoids: a search comes upon each word with room but those that it is to avoid, whichever
// is the tightest, as long as few words of the run's own class cannot hold it.
func TestFitAvoids(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	const words = 24
	for range 200 {
		h := bitmask.NewHierarchy(words * bitmask.WordBits)
		for i := range words {
			if n := rng.IntN(bitmask.WordBits); n > 0 {
				require.True(t, h.TryAllocAt(i*bitmask.WordBits, n))
			}
		}
		lo := rng.IntN(words)
		hi := lo + rng.IntN(words-lo+1)
		n := 1 + rng.IntN(bitmask.WordBits)
		f := h.Fit(n)
		f.Avoid(lo, hi)
		found := map[int]bool{}
		for i, ok := f.Next(); ok; i, ok = f.Next() {
			require.False(t, lo <= i && i < hi, "word %d is one of [%d, %d)", i, lo, hi)
			found[i] = true
		}
		if tight, ok := tightest(h, n, lo, hi); ok {
			require.True(t, found[tight], "word %d of %d", tight, n)
		} else {
			require.Empty(t, found)
		}
	}
}

// tightest returns the first of the words outside [lo, hi) whose longest run is the shortest that
// holds n units.
func tightest(h *bitmask.Hierarchy, n, lo, hi int) (best int, ok bool) {
	least := bitmask.WordBits + 1
	for i := range h.Words() {
		_, longest := bitmask.LongestRun(h.Word(i).Load())
		if outside := i < lo || i >= hi; outside && longest >= n && longest < least {
			best, ok, least = i, true, longest
		}
	}
	return best, ok
}
