package alloc_test

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/mmap"
)

// scavenging starts the scavenger for the length of a test.
func scavenging(t testing.TB, s alloc.Scavenger) {
	t.Helper()
	before := alloc.SetScavenger(s)
	t.Cleanup(func() { alloc.SetScavenger(before) })
}

// TestScavengerGivesBackByItself: what nobody uses goes without a call, chunks beside chunks in use
// and granules but for the retained ones; memory in use stays as it was, and memory that was given
// back is allocated again like any other.
func TestScavengerGivesBackByItself(t *testing.T) {
	givesBackChunks(t)
	scavenging(t, alloc.Scavenger{})
	u, live := mottled(t, 512, 4, alloc.PurgeAfter(time.Second/4))
	empty := newUniverse(t, alloc.Size(16<<20), alloc.Retain(2<<20), alloc.PurgeAfter(time.Second/4))
	c, err := empty.AllocExact(64)
	require.NoError(t, err)
	d, err := empty.AllocExact(64)
	require.NoError(t, err)
	e, err := empty.AllocExact(64)
	require.NoError(t, err)
	for _, c := range []alloc.ChunkIndex{c, d, e} {
		empty.Free(c, 64)
	}
	require.Equal(t, 4<<20, empty.Stats().Committed)
	given := alloc.ReadBudget().Scavenged
	require.Eventually(t, func() bool {
		return u.Stats().Committed == 128*alloc.ChunkSize && empty.Stats().Committed == 2<<20
	}, time.Minute, 10*time.Millisecond)
	require.Eventually(t, func() bool {
		return alloc.ReadBudget().Scavenged-given >= int64(384*alloc.ChunkSize+2<<20)
	}, time.Minute, 10*time.Millisecond)
	for _, c := range live {
		requireChunk(t, u, c, uint64(c))
	}
	require.NoError(t, u.Verify())
	require.NoError(t, empty.Verify())
	again, err := u.AllocZeroed1()
	require.NoError(t, err)
	requireChunk(t, u, again, 0)
	for _, c := range append(live, again) {
		u.Free(c, 1)
	}
}

// TestScavengerObeys: it does nothing when it is off, for a universe with a very long delay, and at
// or below its target.
func TestScavengerObeys(t *testing.T) {
	for name, c := range map[string]struct {
		set   alloc.Scavenger
		delay time.Duration
	}{
		"off":    {alloc.Scavenger{Percent: -1}, 0},
		"delay":  {alloc.Scavenger{}, math.MaxInt64},
		"target": {alloc.Scavenger{Target: alloc.ReadBudget().Committed + 64<<20}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			scavenging(t, c.set)
			u, live := mottled(t, 512, 4, alloc.PurgeAfter(c.delay))
			before := u.Stats().Committed
			for range 4 {
				alloc.LookNow()
				time.Sleep(alloc.ScavengeTick / 2)
			}
			require.Equal(t, before, u.Stats().Committed)
			for _, c := range live {
				u.Free(c, 1)
			}
		})
	}
	require.PanicsWithValue(t,
		"alloc: SetScavenger: Percent=101 Target=0: want none below 0 as a target, and at most 100 percent",
		func() { alloc.SetScavenger(alloc.Scavenger{Percent: 101}) })
	require.Panics(t, func() { alloc.SetScavenger(alloc.Scavenger{Percent: math.NaN()}) })
	require.Panics(t, func() { alloc.SetScavenger(alloc.Scavenger{Target: -1}) })
}

// TestScavengerEnds: there is no timer when no universe has memory, and there is one again after a
// commit.
func TestScavengerEnds(t *testing.T) {
	scavenging(t, alloc.Scavenger{})
	u := newUniverse(t, alloc.Size(4<<20))
	c, err := u.AllocExact(1)
	require.NoError(t, err)
	require.True(t, alloc.ScavengerDue())
	u.Free(c, 1)
	_, err = u.Trim(0)
	require.NoError(t, err)
	if alloc.AnyReady() {
		t.Skip("other universes of this process have memory")
	}
	require.Eventually(t, func() bool { return !alloc.ScavengerDue() }, time.Minute, 10*time.Millisecond)
	c, err = u.AllocExact(1)
	require.NoError(t, err)
	require.True(t, alloc.ScavengerDue())
	u.Free(c, 1)
}

// TestScavengerBesideClose closes universes while the scavenger looks at them.
func TestScavengerBesideClose(t *testing.T) {
	scavenging(t, alloc.Scavenger{Percent: 100})
	end := time.Now().Add(200 * time.Millisecond)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for time.Now().Before(end) {
				alloc.LookNow()
			}
		})
	}
	for time.Now().Before(end) {
		u, err := alloc.NewUniverse(alloc.Size(8<<20), alloc.PurgeAfter(0), alloc.Retain(0))
		require.NoError(t, err)
		var held []alloc.ChunkIndex
		for range 200 {
			c, err := u.AllocExact(1)
			require.NoError(t, err)
			held = append(held, c)
		}
		for _, c := range held {
			u.Free(c, 1)
		}
		require.NoError(t, u.Close())
	}
	all.Wait()
}

// TestScavengerIsRefused: the system refuses to take memory back. It stays, and goes later.
func TestScavengerIsRefused(t *testing.T) {
	givesBackChunks(t)
	scavenging(t, alloc.Scavenger{Percent: 100})
	region, err := mmap.Reserve(8 << 20)
	require.NoError(t, err)
	pages := &alloc.FailingPages{Region: region, Err: mmap.ErrMemory}
	u := newUniverse(t, alloc.WithPages(pages), alloc.PurgeAfter(0), alloc.Retain(0))
	var held []alloc.ChunkIndex
	for range 4 {
		c, err := u.AllocExact(64)
		require.NoError(t, err)
		held = append(held, c)
	}
	u.Refuse(pages, true)
	u.Free(held[0], 60) // free chunks beside chunks in use
	u.Free(held[2], 64)
	u.Free(held[3], 64) // a granule that is empty
	for range 3 {
		alloc.LookNow()
		require.NoError(t, u.Verify())
		require.Equal(t, 4<<20, u.Stats().Committed)
		time.Sleep(alloc.ScavengeTick)
	}
	u.Refuse(pages, false)
	require.Eventually(t, func() bool {
		alloc.LookNow() // a look above may have met one of the scavenger's own, which then was its last
		return u.Stats().Committed == 2<<20-60*alloc.ChunkSize
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, u.Verify())
	u.Free(held[0]+60, 4)
	u.Free(held[1], 64)
}

// TestStatsBesideTrim: memory that the system does not take back counts at each moment.
func TestStatsBesideTrim(t *testing.T) {
	region, err := mmap.Reserve(8 << 20)
	require.NoError(t, err)
	pages := &alloc.FailingPages{Region: region, Err: mmap.ErrMemory}
	u := newUniverse(t, alloc.WithPages(pages))
	require.NoError(t, u.Prefault(4<<20))
	u.Refuse(pages, true)
	var trimmer sync.WaitGroup
	trimmer.Go(func() {
		for range 2000 {
			_, err := u.Trim(0)
			assert.ErrorIs(t, err, mmap.ErrMemory)
		}
	})
	for range 20_000 {
		require.Equal(t, 4<<20, u.Stats().Committed)
	}
	trimmer.Wait()
	u.Refuse(pages, false)
}
