package alloc_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/mmap"
)

// TestRoundsDoNotThrash frees and takes again 20 MiB in each round, with nothing
// retained: memory stays, because it is never empty for long.
func TestRoundsDoNotThrash(t *testing.T) {
	u := newUniverse(t, alloc.Size(32<<20), alloc.Retain(0), alloc.PurgeAfter(time.Hour))
	for range 5 {
		var all []alloc.ChunkIndex
		for range 20 {
			c, err := u.AllocExact(64)
			require.NoError(t, err)
			all = append(all, c)
		}
		for _, c := range all {
			u.Free(c, 64)
		}
		require.Equal(t, 20<<20, u.Stats().Committed)
	}
}

// TestFreeingPurges frees memory and, after the delay, some more: the first goes.
func TestFreeingPurges(t *testing.T) {
	const delay = 20 * time.Millisecond
	u := newUniverse(t, alloc.Size(32<<20), alloc.Retain(0), alloc.PurgeAfter(delay))
	var all []alloc.ChunkIndex
	for range 32 {
		c, err := u.AllocExact(64)
		require.NoError(t, err)
		all = append(all, c)
	}
	for i, c := range all {
		u.Free(c, 64)
		if i%2 == 1 { // a granule has become empty
			time.Sleep(delay / 4)
		}
	}
	require.Less(t, u.Stats().Committed, 32<<20)
	require.NoError(t, u.Verify())
}

// TestFreeReturnsLittleAtOnce: of much memory that has been empty for the delay, each Free that
// empties a granule returns four at most, and the next one goes on.
func TestFreeReturnsLittleAtOnce(t *testing.T) {
	const delay = 20 * time.Millisecond
	before := alloc.SetScavenger(alloc.Scavenger{Percent: -1})
	defer alloc.SetScavenger(before)
	u := newUniverse(t, alloc.Size(128<<20), alloc.Retain(0), alloc.PurgeAfter(delay))
	first, err := u.AllocGranules(60)
	require.NoError(t, err)
	freeGranules(u, first, 50) // all that were just emptied are young
	time.Sleep(2 * delay)
	last, left := u.Stats().Committed, first+50*perGranule
	u.Free(left, 64)
	u.Free(left+64, 64)
	require.LessOrEqual(t, last-u.Stats().Committed, 8<<20)
	time.Sleep(2 * delay)
	last = u.Stats().Committed
	for i := range alloc.ChunkIndex(9) {
		left := first + (51+i)*perGranule
		u.Free(left, 64)
		u.Free(left+64, 64)
		now := u.Stats().Committed
		require.LessOrEqual(t, last-now, 8<<20)
		if last > 9*mmap.Granule { // than those in use and those that this loop has emptied
			require.Less(t, now, last)
		}
		last = now
	}
}

// TestFreeReturnsWhatItDidNotReach: memory that an earlier Free did not come to, as it returned
// four granules before, has been empty for as long as it has.
func TestFreeReturnsWhatItDidNotReach(t *testing.T) {
	const delay = 50 * time.Millisecond
	before := alloc.SetScavenger(alloc.Scavenger{Percent: -1})
	defer alloc.SetScavenger(before)
	u := newUniverse(t, alloc.Size(128<<20), alloc.Retain(0), alloc.PurgeAfter(delay))
	first, err := u.AllocGranules(60)
	require.NoError(t, err)
	freed := 0
	free := func(n int) {
		freeGranules(u, first+alloc.ChunkIndex(freed)*perGranule, n)
		freed += n
	}
	free(6)
	time.Sleep(2 * delay)
	free(1) // a look, or several
	free(33)
	time.Sleep(2 * delay)
	for u.Stats().Committed > (60-40)*mmap.Granule && freed < 60 {
		last := u.Stats().Committed
		free(1)
		require.Less(t, u.Stats().Committed, last, "%d granules were freed", freed)
	}
	free(60 - freed)
}

// TestTrimAndMaintainTellOfRefusals: a granule that the system would not take stays
// usable and is taken at the next try.
func TestTrimAndMaintainTellOfRefusals(t *testing.T) {
	for name, purge := range map[string]func(u *alloc.Universe) (int, error){
		"Trim":     func(u *alloc.Universe) (int, error) { return u.Trim(0) },
		"Maintain": func(u *alloc.Universe) (int, error) { return u.Maintain(time.Now()) },
	} {
		region, err := mmap.Reserve(8 << 20)
		require.NoError(t, err)
		pages := &alloc.FailingPages{Region: region, Err: mmap.ErrMemory}
		u := newUniverse(t, alloc.WithPages(pages), alloc.PurgeAfter(0))
		for range 4 {
			_, err := u.AllocExact(64)
			require.NoError(t, err)
		}
		for first, n := range u.Runs() {
			u.Free(first, n)
		}
		pages.FailAt = pages.Calls + 1
		returned, err := purge(u)
		require.ErrorIs(t, err, mmap.ErrMemory, name)
		require.ErrorContains(t, err, "alloc: Universe."+name+": ")
		require.Equal(t, 2<<20, returned, "%s: the other one went", name)
		require.NoError(t, u.Verify())
		c, err := u.AllocExact(64)
		require.NoError(t, err)
		u.Bytes(c, 64)[5] = 1
		u.Free(c, 64)
		returned, err = purge(u)
		require.NoError(t, err)
		require.Equal(t, 2<<20, returned, name)
	}
}
