package alloc_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/mmap"
)

// TestUniversesShareMetadataBlocks: universes of all sizes, made and closed by two goroutines in
// turn, leave metadata that reads as zero, after they were used up to the last chunk and after a
// refused commit.
func TestUniversesShareMetadataBlocks(t *testing.T) {
	sizes := 10 // powers of two from 2 MiB
	if !mmap.Real {
		sizes = 7 // to 128 MiB: two of the largest lie in what all Go memory may take
	}
	var done sync.WaitGroup
	for g := range 2 {
		done.Go(func() {
			random := rand.New(rand.NewPCG(3, uint64(g)))
			for range 60 {
				u, err := alloc.NewUniverse(alloc.Size(1<<(21+random.IntN(sizes))), alloc.Retain(0),
					alloc.PurgeAfter(0))
				if !assertNoError(t, err) {
					return
				}
				var runs [][2]int
				for range random.IntN(60) {
					first, n, err := u.Alloc(1 + random.IntN(64))
					if err == nil {
						runs = append(runs, [2]int{int(first), n})
					}
				}
				if u.Size() == 2<<20 { // to the last chunk
					for c, err := u.AllocExact(1); err == nil; c, err = u.AllocExact(1) {
						runs = append(runs, [2]int{int(c), 1})
					}
				}
				assertNoError(t, u.Verify())
				for _, r := range runs {
					u.Free(alloc.ChunkIndex(r[0]), r[1])
				}
				assertNoError(t, u.Verify())
				assertNoError(t, u.Close())
			}
		})
	}
	done.Wait()
	region, err := mmap.Reserve(64 << 20)
	require.NoError(t, err)
	pages := &alloc.FailingPages{Region: region, FailAt: 1, Err: errors.New("refused")}
	u := newUniverse(t, alloc.WithPages(pages))
	_, err = u.AllocExact(1)
	require.ErrorIs(t, err, alloc.ErrCommit)
	require.NoError(t, u.Verify())
	require.NoError(t, u.Close())
	require.NoError(t, alloc.VerifyMetadata())
}

func assertNoError(t *testing.T, err error) bool {
	if err != nil {
		t.Error(err)
	}
	return err == nil
}
