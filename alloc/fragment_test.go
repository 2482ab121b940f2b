package alloc_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/bitmask"
)

// firstFit is the slow twin of the universe's choice: the lowest run that fits.
type firstFit []uint64

func (f firstFit) alloc(n int) alloc.ChunkIndex {
	for m := range f {
		if at, ok := bitmask.FindRun(f[m], n); ok {
			f[m] |= bitmask.Mask(at, n)
			return alloc.ChunkIndex(m*64 + at)
		}
	}
	panic("full")
}

func (f firstFit) free(c alloc.ChunkIndex, n int) { f[c/64] &^= bitmask.Mask(int(c%64), n) }

// TestBestFitNeedsFewerMegachunks keeps 6,400 chunks live in runs of 1 to most,
// frees and allocates at random, and counts the megachunks that are touched: best
// fit by the longest run needs fewer than first fit.
func TestBestFitNeedsFewerMegachunks(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine and 80,000 steps: for the long tests")
	}
	for _, most := range []int{8, 64} {
		u := newUniverse(t, alloc.Size(256<<20))
		twin := make(firstFit, 256)
		type run struct {
			ours, theirs alloc.ChunkIndex
			n            int
		}
		var live []run
		rng := rand.New(rand.NewPCG(21, 22))
		chunks, steps := 0, 40_000
		touched, others, samples := 0, 0, 0
		for step := range steps {
			if chunks >= 6400 {
				i := rng.IntN(len(live))
				u.Free(live[i].ours, live[i].n)
				twin.free(live[i].theirs, live[i].n)
				chunks -= live[i].n
				live[i] = live[len(live)-1]
				live = live[:len(live)-1]
				continue
			}
			n := 1 + rng.IntN(most)
			c, err := u.AllocExact(n)
			require.NoError(t, err)
			live = append(live, run{c, twin.alloc(n), n})
			chunks += n
			if step > steps/2 && step%500 == 0 {
				samples++
				for m := range twin {
					if twin[m] != 0 {
						others++
					}
					for c := range alloc.ChunkIndex(64) {
						if u.InUse(alloc.ChunkIndex(m*64) + c) {
							touched++
							break
						}
					}
				}
			}
		}
		over := func(words int) float64 { return 100 * (float64(words*64)/float64(samples*6400) - 1) }
		t.Logf("runs of 1 to %d chunks: over the ideal %.1f %%, first fit %.1f %%", most, over(touched), over(others))
		require.Less(t, touched, others)
		for c, n := range u.Runs() {
			u.Free(c, n)
		}
	}
}
