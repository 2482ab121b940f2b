package fuzz_test

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/fuzz"
	"quarry/internal/long"
)

// TestMillionSteps runs 20 streams: 200 steps of each, which is enough for every operation to occur
// in each, 1,500 with QUARRY_LONG=1, and a million steps in all with QUARRY_LONG=34. Each stream
// runs twice, and must give the same hash, the same number of refused calls and the same peak. In
// every second stream all operations take part, in the others those that the stream's weights
// leave.
func TestMillionSteps(t *testing.T) {
	const seeds = 20
	steps := long.N(200, 1500*long.Times())
	var done atomic.Int64
	t.Run("seeds", func(t *testing.T) {
		eachSeed(t, seeds, func(t *testing.T, seed uint64) {
			data := fuzz.Random(seed+3000, steps)
			if seed%2 == 0 {
				fuzz.WorldWeights(data, func(string) bool { return true })
			}
			config := fuzz.WorldConfig{Universe: newUniverse(t, 32<<20)}
			if seed%5 == 4 {
				config = fuzz.WorldConfig{Universe: newUniverse(t, 4<<20), Tight: true}
			}
			first, err := fuzz.RunWorld(data, config)
			require.NoError(t, err)
			config.Universe = newUniverse(t, config.Universe.Size())
			again, err := fuzz.RunWorld(data, config)
			require.NoError(t, err)
			require.Equal(t, first, again)
			done.Add(int64(first.Steps))
		})
	})
	require.Equal(t, int64(seeds*steps), done.Load())
}

// TestHashWithoutChunks runs streams under several policies for chunks: the hash must not depend on
// how rows are cut into chunks. It leaves out operations whose effect depends on the cut: loops of
// the driver, which choose their writes by chunk; queries with Changed and Ordered, which are about
// chunks; and changes and ends of many entities by query or list. These close gaps run by run, and
// a run ends with its chunk, so the order of the rows that fill the gaps depends on the cut.
func TestHashWithoutChunks(t *testing.T) {
	seeds, steps := effort(6, 1_000)
	cut := []string{"Query", "NewTerms", "CloseQuery", "ApplyQuery", "ApplyList", "ApplyRows", "DestroyQuery",
		"DestroyList", "Migrate", "Gather"}
	eachSeed(t, seeds, func(t *testing.T, seed uint64) {
		data := fuzz.Random(seed+4000, steps)
		fuzz.WorldWeights(data, func(op string) bool { return !slices.Contains(cut, op) })
		data[0] |= 6 // large runs
		u := newUniverse(t, 64<<20)
		var first fuzz.WorldResult
		for growth := range byte(8) {
			data[1] = data[1]&31 | growth<<5
			result, err := fuzz.RunWorld(data, fuzz.WorldConfig{Universe: u})
			require.NoError(t, err)
			if growth == 0 {
				first = result
			}
			require.Equal(t, first, result, "growth %d", growth)
		}
	})
}

// TestHoles runs streams of few types in archetypes of many chunks, of which a change moves most as
// a whole: a change that removes a type leaves a hole, and a change that adds it again fills the
// hole.
func TestHoles(t *testing.T) {
	const steps = 600
	seeds, _ := effort(12, steps)
	keep := []string{"CreateN", "Apply", "ApplyQuery", "ApplyRows", "Toggle", "Append", "Query", "NewQuery", "Look",
		"LookupMany", "Advance"}
	eachSeed(t, seeds, func(t *testing.T, seed uint64) {
		data := fuzz.Random(seed+6000, steps)
		fuzz.WorldWeights(data, func(op string) bool { return slices.Contains(keep, op) })
		data[0], data[1] = 6, byte(seed%3)<<6 // up to 1,900 entities, in chunks that grow, of one unit, and of many
		data[2], data[3] = 0x1C, 0            // of components of 40 and 4 bytes and a buffer; 8 archetypes
		if seed%2 == 0 {
			data[2] = 0x9D // one more tag and one more buffer; 32 archetypes
		}
		result, err := fuzz.RunWorld(data, fuzz.WorldConfig{Universe: newUniverse(t, 32<<20)})
		require.NoError(t, err)
		require.Greater(t, result.Peak, 500)
	})
}

// TestLargeArchetypes runs streams of few types. In the even ones some archetypes have thousands of
// rows: lists of a few of their rows are walked as lists, not as masks, and where only tags differ,
// whole chunks move from one archetype to another. In the odd ones rows are so wide that one byte
// more does not reduce the rows of a chunk: the contents of that byte must not move along.
func TestLargeArchetypes(t *testing.T) {
	const steps = 850 // fewer do not make the archetypes large
	seeds, _ := effort(12, steps)
	eachSeed(t, seeds, func(t *testing.T, seed uint64) {
		data := fuzz.Random(seed+5000, steps)
		fuzz.WorldWeights(data, func(op string) bool { return op != "Wipe" })
		most := 2048
		if seed%2 == 0 {
			data[0] = 7                   // up to 7,000 entities
			data[2], data[3] = 0x8B, 0x42 // of two components, a buffer, and tags
		} else {
			data[0], data[1] = 6, 2<<5    // up to 1,900 entities, in chunks of one unit
			data[2], data[3] = 0x1F, 0x11 // of components of 40, 4, 3 and 1 bytes, two buffers and a tag
			most = 500
		}
		result, err := fuzz.RunWorld(data, fuzz.WorldConfig{Universe: newUniverse(t, 32<<20)})
		require.NoError(t, err)
		require.Greater(t, result.Peak, most)
	})
}
