package alloc_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/internal/debug"
	"quarry/mmap"
)

// The chunk store that the universe is taken from has eleven known defects and limits, a to k. Each
// has its test here, named by its letter.

// TestDefectARefusedCommitRollsBackWhole: after a refused commit of an empty megachunk only a part
// of its mask was restored, and the next caller got a chunk without memory.
func TestDefectARefusedCommitRollsBackWhole(t *testing.T) {
	refused := errors.New("refused by the test")
	for _, n := range []int{1, 5, 63, 64} {
		region, err := mmap.Reserve(4 << 20)
		require.NoError(t, err)
		pages := &alloc.FailingPages{Region: region, FailAt: 1, Err: refused}
		u := newUniverse(t, alloc.WithPages(pages))
		_, err = u.AllocExact(n)
		require.ErrorIs(t, err, refused)
		require.NoError(t, u.Verify())
		require.Equal(t, [7]int{6: 4}, u.Stats().FreeRuns, "not a chunk is lost")
		c, err := u.AllocExact(n)
		require.NoError(t, err)
		u.Bytes(c, n)[n*alloc.ChunkSize-1] = 1
		u.Free(c, n)
	}
}

// TestDefectBUniversesAreIndependent: making a second store reset the hints of the first.
func TestDefectBUniversesAreIndependent(t *testing.T) {
	u := newUniverse(t, alloc.Size(4<<20))
	var live []alloc.ChunkIndex
	for range 3 {
		c, err := u.AllocExact(64)
		require.NoError(t, err)
		live = append(live, c)
	}
	other := newUniverse(t, alloc.Size(4<<20))
	require.NoError(t, u.Verify())
	require.Equal(t, 192, u.Stats().LiveChunks)
	require.Zero(t, other.Stats().LiveChunks)
	for _, c := range live {
		u.Free(c, 64)
	}
}

// TestDefectCDoubleFreeIsAlwaysSeen: a double free was not seen while the megachunk was being
// emptied. Of two goroutines that free the last chunk at once exactly one succeeds.
func TestDefectCDoubleFreeIsAlwaysSeen(t *testing.T) {
	if !mmap.Real && debug.On {
		t.Skip("race builds poison what is freed, and so would report the two frees as the race that they are")
	}
	u := newUniverse(t, alloc.Size(4<<20), alloc.Retain(0))
	for range 500 {
		c, err := u.AllocExact(1)
		require.NoError(t, err)
		var panics atomic.Int32
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				defer func() {
					if recover() != nil {
						panics.Add(1)
					}
				}()
				u.Free(c, 1)
			})
		}
		both.Wait()
		require.Equal(t, int32(1), panics.Load())
		require.Zero(t, u.Stats().LiveChunks)
	}
}

// TestDefectDCountsAreChecked: a count of 0 freed up to the end of the megachunk.
func TestDefectDCountsAreChecked(t *testing.T) {
	u := newUniverse(t, alloc.Size(2<<20))
	c, err := u.AllocExact(64)
	require.NoError(t, err)
	for _, n := range []int{0, -1, 65, 1 << 40} {
		require.Panics(t, func() { u.Free(c, n) })
		require.Equal(t, 64, u.Stats().LiveChunks)
	}
	u.Free(c, 64)
}

// TestDefectEStartersShareAndNobodyIsRefused: starters that met on an empty megachunk each took a
// megachunk of their own, and at the limit some were refused. Here as many goroutines as there are
// chunks start at once in a universe of one granule.
func TestDefectEStartersShareAndNobodyIsRefused(t *testing.T) {
	for range 20 {
		u := newUniverse(t, alloc.Size(2<<20))
		var got [128]alloc.ChunkIndex
		var all sync.WaitGroup
		for i := range got {
			all.Go(func() {
				c, _, err := u.Alloc(1)
				if err != nil {
					t.Errorf("goroutine %d: %v", i, err)
				}
				got[i] = c
			})
		}
		all.Wait()
		require.Equal(t, 128, u.Stats().LiveChunks)
		seen := map[alloc.ChunkIndex]bool{}
		for _, c := range got {
			require.False(t, seen[c])
			seen[c] = true
			u.Free(c, 1)
		}
	}
}

// TestDefectFHysteresis: freeing the last chunk returned the memory at once, so taking and giving
// one chunk in turn cost system calls each time.
func TestDefectFHysteresis(t *testing.T) {
	scavenging(t, alloc.Scavenger{Percent: -1}) // it would return memory between two pairs
	region, err := mmap.Reserve(64 << 20)
	require.NoError(t, err)
	pages := &alloc.FailingPages{Region: region}
	u := newUniverse(t, alloc.WithPages(pages))
	for range 1000 {
		c, n, err := u.Alloc(64)
		require.NoError(t, err)
		u.Free(c, n)
	}
	require.Equal(t, 1, pages.Calls, "one commit, no decommit")
}

// TestDefectGRunsAndPlainErrors: runs were hardly used, and refusals carried a bare code. Every run
// length works, and a refusal has the size that was requested and the chunks in use.
func TestDefectGRunsAndPlainErrors(t *testing.T) {
	u := newUniverse(t, alloc.Size(2<<20))
	for n := 1; n <= 64; n++ {
		c, err := u.AllocExact(n)
		require.NoError(t, err)
		_, err = u.AllocExact(65 - n) // the other megachunk holds it
		require.NoError(t, err)
		for c, n := range u.Runs() {
			u.Free(c, n)
		}
		require.False(t, u.InUse(c))
	}
	a, _ := u.AllocExact(64)
	b, _ := u.AllocExact(60)
	_, err := u.AllocExact(5)
	require.ErrorIs(t, err, alloc.ErrFull)
	require.EqualError(t, err,
		"alloc: Universe.AllocExact: no room for 5 chunks, 2031616 of 2097152 bytes are in use (a larger universe: alloc.Size): full")
	u.Free(a, 64)
	u.Free(b, 60)
}

// TestDefectHTheLimitIsAnError: all worlds shared one hard limit, and crashed near it. A universe
// is full exactly at its last chunk, returns an error then, and others are not affected.
func TestDefectHTheLimitIsAnError(t *testing.T) {
	size := 1 << 30 // of address space; masks and commits alone are exercised
	if !mmap.Real {
		size = 16 << 20
	}
	u := newUniverse(t, alloc.Size(size))
	for range size / alloc.MegachunkSize {
		_, err := u.AllocExact(64)
		require.NoError(t, err)
	}
	_, _, err := u.Alloc(1)
	require.ErrorIs(t, err, alloc.ErrFull)
	require.NoError(t, u.Verify())
	u.Free(alloc.ChunkIndex(size/alloc.ChunkSize-1), 1)
	c, _, err := u.Alloc(1)
	require.NoError(t, err)
	require.Equal(t, alloc.ChunkIndex(size/alloc.ChunkSize-1), c, "the last chunk of all")
	for c, n := range u.Runs() {
		u.Free(c, n)
	}
}

// TestDefectISearchGoesToTheBestFit: a search began at a group of 64 megachunks and walked from
// there. Now it goes to a word that fits: with one hole in a full universe, wherever it is, the
// next call gets it; with several, the tightest that serves.
func TestDefectISearchGoesToTheBestFit(t *testing.T) {
	size := 256 << 20
	if !mmap.Real {
		size = 16 << 20
	}
	u := newUniverse(t, alloc.Size(size))
	megachunks := size / alloc.MegachunkSize
	for range megachunks {
		_, err := u.AllocExact(64)
		require.NoError(t, err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		hole := alloc.ChunkIndex(rng.IntN(size / alloc.ChunkSize))
		u.Free(hole, 1)
		c, err := u.AllocExact(1)
		require.NoError(t, err)
		require.Equal(t, hole, c)
	}
	at := func(m int) alloc.ChunkIndex { return alloc.ChunkIndex(m * 64) }
	u.Free(at(1), 64)
	u.Free(at(3)+10, 20)
	u.Free(at(5)+7, 4)
	u.Free(at(7)+60, 3)
	for _, want := range []struct {
		n  int
		at alloc.ChunkIndex
	}{{3, at(7) + 60}, {4, at(5) + 7}, {9, at(3) + 10}, {11, at(3) + 19}, {33, at(1)}, {31, at(1) + 33}} {
		c, err := u.AllocExact(want.n)
		require.NoError(t, err)
		require.Equal(t, want.at, c, "n=%d", want.n)
	}
	for c, n := range u.Runs() {
		u.Free(c, n)
	}
}

// TestDefectJAlignmentAndArithmetic: chunks were aligned to 64 bytes, and an address needed a
// search.
func TestDefectJAlignmentAndArithmetic(t *testing.T) {
	u := newUniverse(t, alloc.Size(8<<20))
	if mmap.Real {
		require.Zero(t, uintptr(u.Base())%mmap.Granule)
	}
	for c := range alloc.ChunkIndex(8 << 20 / alloc.ChunkSize) {
		p := u.Pointer(c)
		require.Zero(t, uintptr(p)%alloc.ChunkSize)
		for _, offset := range []int{0, 1, alloc.ChunkSize - 1} {
			got, ok := u.IndexOf(unsafe.Add(p, offset))
			require.True(t, ok)
			require.Equal(t, c, got)
		}
	}
	_, ok := u.IndexOf(unsafe.Add(u.Base(), 8<<20-1))
	require.True(t, ok)
	if !mmap.Real {
		return // the next addresses are of another Go object, perhaps
	}
	for _, outside := range []int{-1, 8 << 20} {
		_, ok = u.IndexOf(unsafe.Add(u.Base(), outside))
		require.False(t, ok)
	}
}

// TestDefectKConcurrencyWithFailures: there was one test, single-threaded, and no failure was ever
// injected. Here goroutines allocate, fill, check and free while memory is trimmed and every so
// often refused.
func TestDefectKConcurrencyWithFailures(t *testing.T) {
	refused := errors.New("refused by the test")
	region, err := mmap.Reserve(16 << 20)
	require.NoError(t, err)
	u := newUniverse(t, alloc.WithPages(&moody{Region: region, err: refused}), alloc.Retain(0))
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 3))
			for i := range 1500 {
				c, n, err := u.Alloc(1 + rng.IntN(40))
				if err != nil {
					if !errors.Is(err, refused) {
						t.Errorf("goroutine %d: %v", g, err)
					}
					continue
				}
				b := u.Bytes(c, n)
				b[0], b[len(b)-1] = byte(g), byte(i)
				runtime.Gosched()
				if b[0] != byte(g) || b[len(b)-1] != byte(i) {
					t.Errorf("chunk %d: got %d %d want %d %d", c, b[0], b[len(b)-1], byte(g), byte(i))
				}
				u.Free(c, n)
				if i%50 == 0 {
					_, _ = u.Trim(0)
				}
			}
		})
	}
	all.Wait()
	require.Zero(t, u.Stats().LiveChunks)
	require.NoError(t, u.Verify())
}

// moody refuses every third call.
type moody struct {
	*mmap.Region
	calls atomic.Int32
	err   error
}

func (m *moody) Commit(offset, n int) error {
	if m.calls.Add(1)%3 == 0 {
		return m.err
	}
	return m.Region.Commit(offset, n)
}

// TestMaintain drives the clock by hand.
func TestMaintain(t *testing.T) {
	u := newUniverse(t, alloc.Size(16<<20), alloc.Retain(64<<20), alloc.PurgeAfter(time.Minute))
	var live []alloc.ChunkIndex
	for range 8 {
		c, err := u.AllocExact(64)
		require.NoError(t, err)
		live = append(live, c)
	}
	begin := time.Unix(1000, 0)
	maintain := func(after time.Duration, want int) {
		t.Helper()
		got, err := u.Maintain(begin.Add(after))
		require.NoError(t, err)
		require.Equal(t, want<<20, got)
		require.NoError(t, u.Verify())
	}
	maintain(0, 0)
	for _, c := range live[:4] {
		u.Free(c, 64)
	}
	maintain(time.Second, 0) // two granules are seen empty
	maintain(60*time.Second, 0)
	c, err := u.AllocExact(64) // the first of them is used and emptied again
	require.NoError(t, err)
	require.Zero(t, c)
	u.Free(c, 64)
	maintain(61*time.Second, 2) // the other goes
	maintain(120*time.Second, 0)
	maintain(121*time.Second, 2)
	require.Equal(t, 4<<20, u.Stats().Committed)
	for _, c := range live[4:] {
		u.Free(c, 64)
	}
}

// TestMaintainEvery waits until the goroutine has given memory back.
func TestMaintainEvery(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(4<<20), alloc.PurgeAfter(0))
	require.NoError(t, err)
	stop := u.MaintainEvery(time.Millisecond)
	require.PanicsWithValue(t, "alloc: Universe.MaintainEvery: it is running already",
		func() { u.MaintainEvery(time.Second) })
	require.PanicsWithValue(t, "alloc: Universe.MaintainEvery: d=0s is not above zero", func() { u.MaintainEvery(0) })
	c, err := u.AllocExact(1)
	require.NoError(t, err)
	u.Free(c, 1)
	require.Eventually(t, func() bool { return u.Stats().Committed == 0 }, 10*time.Second, time.Millisecond)
	stop()
	stop() // twice does nothing
	u.MaintainEvery(time.Millisecond)
	require.NoError(t, u.Close(), "Close ends it")
	require.PanicsWithValue(t, "alloc: Universe.MaintainEvery: the universe is closed",
		func() { u.MaintainEvery(time.Second) })
	require.PanicsWithValue(t, "alloc: Universe.Maintain: the universe is closed",
		func() { _, _ = u.Maintain(time.Now()) })
}
