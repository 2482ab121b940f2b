package alloc_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/mmap"
)

// TestSheetsAgainstModel: a sheet reads as zero whenever it is handed out, and nobody else writes
// it; more free sheets than keep their pages, of several sizes.
func TestSheetsAgainstModel(t *testing.T) {
	sheets := alloc.NewSheets(nil)
	random := rand.New(rand.NewPCG(1, 9))
	type held struct {
		sheet alloc.Sheet
		mark  byte
	}
	var all []held
	sizes := []int{1, 4096, 4097, 40_000, 505 << 10, 2 << 20}
	for step := range 600 {
		if grow := random.IntN(100) < 55; len(all) < 2 || grow && len(all) < 3*alloc.WarmSheets {
			size := sizes[random.IntN(len(sizes))]
			s := sheets.Take(size)
			b := s.Bytes()
			require.GreaterOrEqual(t, len(b), size)
			for _, at := range []int{0, size - 1, len(b) / 2, len(b) - 1} {
				require.Zero(t, b[at])
			}
			mark := byte(step%255 + 1)
			b[0], b[size-1], b[len(b)-1] = mark, mark, mark
			all = append(all, held{s, mark})
			continue
		}
		i := random.IntN(len(all))
		b := all[i].sheet.Bytes()
		require.Equal(t, all[i].mark, b[0])
		require.Equal(t, all[i].mark, b[len(b)-1])
		clear(b)
		sheets.Give(all[i].sheet)
		all = slices.Delete(all, i, i+1)
		if step%50 == 0 {
			require.NoError(t, sheets.Verify())
		}
	}
	for _, one := range all {
		clear(one.sheet.Bytes())
		sheets.Give(one.sheet)
	}
	require.NoError(t, sheets.Verify())
}

// TestSheetsWithoutTheSystem: whatever the system refuses, a sheet is there, in memory of Go, and a
// later one comes from the system again. A refusal to take pages back leaves a sheet that is clear.
func TestSheetsWithoutTheSystem(t *testing.T) {
	if !mmap.Real {
		require.True(t, alloc.NewSheets(nil).Take(100).OfGo())
		return
	}
	refused := errors.New("refused")
	none := alloc.NewSheets(func(size, least int) (*alloc.FailingPages, error) { return nil, refused })
	s := none.Take(100_000)
	require.True(t, s.OfGo())
	require.Len(t, s.Bytes(), 128<<10)
	none.Give(s)
	require.NoError(t, none.Verify())
	for k := 1; k < 8; k++ {
		var region *alloc.FailingPages
		sheets := alloc.NewSheets(func(size, least int) (*alloc.FailingPages, error) {
			r, err := mmap.Reserve(size)
			region = &alloc.FailingPages{Region: r, FailAt: k, Err: refused}
			return region, err
		})
		var all []alloc.Sheet
		for range 2 * alloc.WarmSheets {
			all = append(all, sheets.Take(500_000))
			all[len(all)-1].Bytes()[7] = 1
		}
		ofGo := 0
		for _, s := range all {
			if s.OfGo() {
				ofGo++
			}
			clear(s.Bytes())
			sheets.Give(s)
		}
		require.LessOrEqual(t, ofGo, 1, "only the one that the system refused")
		require.NoError(t, sheets.Verify())
		require.NoError(t, region.Release())
	}
}

// TestUniversesShareSheets: universes of all sizes, made and closed by two goroutines in turn,
// leave books that read as zero, after they were used up to the last chunk and after a refused
// commit.
func TestUniversesShareSheets(t *testing.T) {
	sizes := 10 // powers of two from 2 MiB
	if !mmap.Real {
		sizes = 7 // to 128 MiB: two of the largest lie in what all Go memory may take
	}
	var done sync.WaitGroup
	for g := range 2 {
		done.Go(func() {
			random := rand.New(rand.NewPCG(3, uint64(g)))
			for range 60 {
				u, err := alloc.NewUniverse(alloc.Size(1<<(21+random.IntN(sizes))), alloc.Retain(0), alloc.PurgeAfter(0))
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
	require.NoError(t, alloc.VerifyBooks())
}

func assertNoError(t *testing.T, err error) bool {
	if err != nil {
		t.Error(err)
	}
	return err == nil
}
