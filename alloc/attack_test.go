package alloc_test

import (
	"math"
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/mmap"
)

// Defects that were found by using the package from its docs, one test each.

// TestStopAndStartAtOnce: a stop waited for a round of the maintainer, which
// waited for a second MaintainEvery, which waited for the stop.
func TestStopAndStartAtOnce(t *testing.T) {
	u := newUniverse(t, alloc.Size(4<<20))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 200 {
			stop := u.MaintainEvery(time.Microsecond)
			var other sync.WaitGroup
			other.Go(func() {
				defer func() { _ = recover() }() // it is running already, perhaps
				u.MaintainEvery(time.Microsecond)()
			})
			stop()
			other.Wait()
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("stop and MaintainEvery wait for each other")
	}
}

// TestStaleStop: a stop function ends its own maintainer only.
func TestStaleStop(t *testing.T) {
	u := newUniverse(t, alloc.Size(4<<20), alloc.PurgeAfter(0), alloc.Retain(64<<20))
	u.MaintainEvery(time.Hour)() // ended
	first := u.MaintainEvery(time.Hour)
	first()
	second := u.MaintainEvery(time.Millisecond)
	first()
	c, err := u.AllocExact(1)
	require.NoError(t, err)
	u.Free(c, 1)
	require.Eventually(t, func() bool { return u.Stats().Committed == 0 }, 10*time.Second, time.Millisecond)
	second()
}

// TestWorkInNotedGranulesPurges: memory that was freed goes back even though the
// program goes on in a granule that emptied before.
func TestWorkInNotedGranulesPurges(t *testing.T) {
	const delay = 10 * time.Millisecond
	u := newUniverse(t, alloc.Size(32<<20), alloc.Retain(2<<20), alloc.PurgeAfter(delay))
	for range 32 {
		_, err := u.AllocExact(64)
		require.NoError(t, err)
	}
	for first, n := range u.Runs() {
		u.Free(first, n)
	}
	require.Eventually(t, func() bool {
		c, err := u.AllocExact(64)
		require.NoError(t, err)
		u.Free(c, 64)
		return u.Stats().Committed <= 4<<20
	}, 10*time.Second, time.Millisecond)
}

// TestTrimCountsGranulesWithMemory: a refused commit must not leave a note that a
// trim takes for memory that it keeps.
func TestTrimCountsGranulesWithMemory(t *testing.T) {
	region, err := mmap.Reserve(8 << 20)
	require.NoError(t, err)
	pages := &alloc.FailingPages{Region: region, FailAt: 1, Err: mmap.ErrMemory}
	u := newUniverse(t, alloc.WithPages(pages))
	_, err = u.AllocExact(64)
	require.ErrorIs(t, err, alloc.ErrCommit)
	for range 4 {
		_, err := u.AllocExact(64)
		require.NoError(t, err)
	}
	u.Free(128, 64)
	u.Free(192, 64)
	returned, err := u.Trim(2 << 20)
	require.NoError(t, err)
	require.Zero(t, returned, "the one empty granule with memory is kept")
	u.Free(0, 64)
	u.Free(64, 64)
}

// TestRowCountsThatOverflow asks for more rows than there are numbers.
func TestRowCountsThatOverflow(t *testing.T) {
	type big [9000]byte // one row a chunk
	u := newUniverse(t, alloc.Size(4<<20))
	table, err := alloc.NewTable(u, alloc.Col[big]())
	require.NoError(t, err)
	defer table.Close()
	_, err = table.Allocate()
	require.NoError(t, err)
	_, err = table.AllocateN(math.MaxInt)
	require.ErrorIs(t, err, alloc.ErrTooBig)
	require.Equal(t, 1, table.Len())
	require.NoError(t, table.Verify())
}

// TestHugeSteps gives tables policies whose steps do not fit an int.
func TestHugeSteps(t *testing.T) {
	for _, g := range []alloc.Growth{alloc.Fixed(1 << 62), alloc.Fixed(math.MaxInt), alloc.Geometric(1e300)} {
		u := newUniverse(t, alloc.Size(4<<20))
		table, err := alloc.NewTable(u, alloc.Col[int64](), alloc.ChunkGrowth(g))
		require.NoError(t, err)
		_, err = table.Allocate()
		require.NoError(t, err, "%s", g)
		require.NoError(t, table.Verify(), "%s", g)
		table.Close()
	}
	require.Equal(t, 21, alloc.Geometric(1e300).Capped(16).Next(5, 6), "the cap holds though the factor does not fit")
	require.Equal(t, 8, alloc.Doubling().Capped(3).Capped(10).Next(5, 6), "the smaller cap holds")
}

// TestTableOfAClosedUniverse panics instead of advising a larger universe.
func TestTableOfAClosedUniverse(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(2 << 20))
	require.NoError(t, err)
	table, err := alloc.NewTable(u, alloc.Col[int64]())
	require.NoError(t, err)
	require.NoError(t, u.Close())
	require.PanicsWithValue(t, "alloc: Store.Grow: the universe is closed", func() { _, _ = table.Allocate() })
}

// TestOccupancyHasNineTenths: 58 to 63 chunks of 64 are a 9.
func TestOccupancyHasNineTenths(t *testing.T) {
	u := newUniverse(t, alloc.Size(2<<20))
	for n, want := range map[int]string{1: "1-", 6: "1-", 7: "2-", 57: "9-", 58: "9-", 63: "9-", 64: "#-"} {
		c, err := u.AllocExact(n)
		require.NoError(t, err)
		require.Contains(t, u.Occupancy(), "     0 "+want+"\n", "%d chunks", n)
		u.Free(c, n)
	}
}

// TestZeroedRunsTouchNothingFresh: a zeroed run of fresh chunks is not written to.
func TestZeroedRunsTouchNothingFresh(t *testing.T) {
	if runtime.GOOS != "linux" || !mmap.Real {
		t.Skip("the system does not tell what is resident")
	}
	u := newUniverse(t, alloc.Size(64<<20), alloc.SmallPages())
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	for range 20 {
		p, err := h.AllocZeroed(1<<20, 0)
		require.NoError(t, err)
		require.Zero(t, *(*byte)(unsafe.Add(p, 5000)))
	}
	got, err := u.Resident()
	require.NoError(t, err)
	require.LessOrEqual(t, got, 20*mmap.PageSize(), "one page of each block was read")
	require.ErrorIs(t, h.Close(), alloc.ErrLeak)
	h, err = alloc.NewHeap(u)
	require.NoError(t, err)
	p, err := h.Alloc(1<<20, 0)
	require.NoError(t, err)
	fill(p, 1<<20)
	h.Free(p)
	p, err = h.AllocZeroed(1<<20, 0)
	require.NoError(t, err)
	for i, b := range bytesOf(p, 1<<20) {
		if b != 0 {
			t.Fatalf("byte %d: got %#x want 0", i, b)
		}
	}
	h.Free(p)
	require.NoError(t, h.Close())
}

func fill(p unsafe.Pointer, n int) {
	for i := range bytesOf(p, n) {
		bytesOf(p, n)[i] = 0xEE
	}
}

// TestLargeMappingLeavesTheKept: a freed mapping that is too large to keep goes
// alone.
func TestLargeMappingLeavesTheKept(t *testing.T) {
	h := newHeap(t, alloc.Size(4<<20))
	a, b, c := must(h.Alloc(2<<20, 0)), must(h.Alloc(2<<20, 0)), must(h.Alloc(10<<20, 0))
	h.Free(a)
	h.Free(b)
	require.Equal(t, 4<<20, h.Stats().Kept)
	h.Free(c)
	require.Equal(t, 4<<20, h.Stats().Kept)
}

// TestNilAfterClose: freeing nil does nothing, whatever was closed.
func TestNilAfterClose(t *testing.T) {
	h := newHeap(t, alloc.Size(4<<20))
	l := h.NewLocal()
	l.Close()
	require.NotPanics(t, func() {
		l.Free(nil)
		l.FreeSized(nil, 8, 0)
		h.Free(nil)
	})
	require.Zero(t, h.Stats().LiveBlocks)
}

// TestLocalUsesSharedRoom: with no chunk left a Local takes slots that the heap has.
func TestLocalUsesSharedRoom(t *testing.T) {
	u := newUniverse(t, alloc.Size(2<<20))
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	p := must(h.Alloc(64, 0))
	for {
		if _, err := u.AllocExact(1); err != nil {
			break
		}
	}
	l := h.NewLocal()
	q, err := l.Alloc(64, 0)
	require.NoError(t, err)
	l.Free(q)
	h.Free(p)
	l.Close()
	require.NoError(t, h.Verify())
	require.NoError(t, h.Close())
	for first, n := range u.Runs() {
		u.Free(first, n)
	}
}
