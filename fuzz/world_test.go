package fuzz_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/fuzz"
	"quarry/internal/long"
)

func newUniverse(t testing.TB, size int, options ...alloc.Option) *alloc.Universe {
	t.Helper()
	u, err := alloc.NewUniverse(append(options, alloc.Size(size))...)
	require.NoError(t, err)
	t.Cleanup(func() {
		if !t.Failed() {
			require.NoError(t, u.Close())
		}
	})
	return u
}

// effort returns how many seeds and steps a test runs: all with QUARRY_LONG=1, n times the steps
// with QUARRY_LONG=n. The short forms are a fifth of the seeds for a fifth of the steps: each kind
// of operation and of limit still occurs, after worlds have been filled; what they lose is the rare
// meeting of three or four operations.
func effort(seeds, steps int) (int, int) {
	switch {
	case long.On():
		return seeds, steps * long.Times()
	case testing.Short():
		return max(2, seeds/10), steps / 5
	}
	return max(3, seeds/5), steps / 5
}

// longestFuzz is the number of bytes of a stream that a fuzz target reads: the fuzzer works better
// with short streams.
const longestFuzz = 1024

// slots bounds how many streams run at the same time: every open world needs a tag of its own, and
// there are 16 tags.
var slots = make(chan struct{}, 4)

// eachSeed runs f for every seed, several at once.
func eachSeed(t *testing.T, seeds int, f func(t *testing.T, seed uint64)) {
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			f(t, seed)
		})
	}
}

// snapshotModels are the operations of a stream that takes and opens many snapshots.
var snapshotModels = []string{"CreateN", "Destroy", "Add", "Remove", "Set", "Append", "EditBuffer", "Lend", "Name",
	"Advance",
	"Snapshot", "Restore", "Fork", "Delta"}

func TestWorldStream(t *testing.T) {
	seeds, steps := effort(20, 5_000)
	var opened atomic.Int64
	t.Run("seeds", func(t *testing.T) {
		eachSeed(t, seeds, func(t *testing.T, seed uint64) {
			u := newUniverse(t, 32<<20)
			data := fuzz.Random(seed, steps)
			if !long.On() && seed == 1 { // the first with snapshots; so few steps must open some
				fuzz.WorldWeights(data, func(op string) bool { return slices.Contains(snapshotModels, op) })
				data[1] |= 1 << 4 // of managed values too
			}
			result, err := fuzz.RunWorld(data, fuzz.WorldConfig{Universe: u})
			require.NoError(t, err)
			require.Equal(t, steps, result.Steps)
			require.Zero(t, u.Stats().LiveChunks)
			opened.Add(int64(result.Opened))
			t.Logf("%+v", result)
		})
	})
	if !testing.Short() {
		require.Positive(t, opened.Load(), "no world was written to a file and opened")
	}
}

// TestSameStreamSameHash runs one stream twice, the second time while another world comes and goes
// in the same universe: ids and contents do not depend on where chunks are, nor on the world's tag.
func TestSameStreamSameHash(t *testing.T) {
	seeds, steps := effort(5, 2_000)
	seen := map[uint64]uint64{}
	one, u := newUniverse(t, 256<<20), newUniverse(t, 256<<20)
	for seed := range uint64(seeds) {
		data := fuzz.Random(seed+1000, steps)
		alone, err := fuzz.RunWorld(data, fuzz.WorldConfig{Universe: one})
		require.NoError(t, err)

		w, err := ecs.NewWorld(ecs.WithUniverse(u))
		require.NoError(t, err)
		a := ecs.NewArchetype(w, ecs.Register[int64](w))
		var ids []ecs.Entity
		beside, err := fuzz.RunWorld(data, fuzz.WorldConfig{Universe: u, Beside: func(step int) {
			if step%500 == 250 {
				for _, e := range ids {
					w.Destroy(e)
				}
				ids = ids[:0]
			}
			for range step % 7 {
				ids = append(ids, a.Create())
			}
		}})
		require.NoError(t, err)
		require.NoError(t, w.Verify())
		require.NoError(t, w.Close())
		require.Equal(t, alone, beside)
		other, again := seen[alone.Hash]
		require.False(t, again, "seeds %d and %d have the same hash", other, seed)
		seen[alone.Hash] = seed
	}
}

// TestWorldInSmallUniverse takes chunks away from a world of 2 or 4 MiB, so that calls fail all the
// time; the driver checks after each call that nothing changed.
func TestWorldInSmallUniverse(t *testing.T) {
	seeds, steps := effort(12, 3_000)
	var refused atomic.Int64
	t.Run("seeds", func(t *testing.T) {
		eachSeed(t, seeds, func(t *testing.T, seed uint64) {
			u := newUniverse(t, 2<<20<<(seed%2))
			result, err := fuzz.RunWorld(fuzz.Random(seed+2000, steps), fuzz.WorldConfig{Universe: u, Tight: true})
			require.NoError(t, err)
			require.Zero(t, u.Stats().LiveChunks)
			t.Logf("%+v", result)
			refused.Add(int64(result.Refused))
		})
	})
	require.Greater(t, int(refused.Load()), seeds*steps/300, "the universes were not small enough")
}

// FuzzWorld searches for streams. A bit of the flags chooses a universe whose chunks are taken
// away, so that calls fail.
func FuzzWorld(f *testing.F) {
	f.Add([]byte{})
	for seed := range uint64(6) {
		f.Add(fuzz.Random(seed, 40))
	}
	roomy, tight := newUniverse(f, 32<<20), newUniverse(f, 2<<20)
	f.Fuzz(func(t *testing.T, data []byte) {
		config := fuzz.WorldConfig{Universe: roomy}
		if len(data) > 1 && data[1]>>4&1 != 0 {
			config = fuzz.WorldConfig{Universe: tight, Tight: true}
		}
		_, err := fuzz.RunWorld(data[:min(len(data), longestFuzz)], config)
		require.NoError(t, err)
	})
}
