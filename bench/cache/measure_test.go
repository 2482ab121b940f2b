package main

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// small is a spec that takes a tenth of a second.
func small(name string) spec {
	return spec{name, smallest, 4 * keysPerMiB, 4 * fillPerMiB, timedPerMiB}
}

// timed measures a contender without the check of its lifetimes, which takes seconds.
func timed(t *testing.T, c *contender) (m sample) {
	sp := small(c.name)
	in, err := newStream(sp.Keys, sp.Fill+2*sp.Timed)
	require.NoError(t, err)
	defer in.close()
	require.NoError(t, m.time(c, newEntries(), in, sp))
	return m
}

func TestContendersAreRight(t *testing.T) {
	for i := range contenders {
		c := &contenders[i]
		t.Run(c.name, func(t *testing.T) {
			m := timed(t, c)
			require.Empty(t, m.Wrong)
			for _, p := range []*phase{&m.Quiet, &m.Garbage} {
				require.Equal(t, small("").Timed, p.Ops)
				require.Positive(t, p.Wall)
				require.Positive(t, p.P50)
				require.LessOrEqual(t, p.P50, p.P99)
				require.LessOrEqual(t, p.P99, p.P999)
				if c.null {
					require.Zero(t, p.Hits)
					continue
				}
				least := 60.0
				if c.late {
					least = 20 // its goroutines drop what they have no time for
				}
				require.Greater(t, p.ratio(), least)
				require.Less(t, p.ratio(), 95.0)
			}
			if c.null {
				return
			}
			require.Greater(t, m.Entries, int64(1000))
			if m.Own >= 0 && c.module == "" { // those that evict before they return
				require.LessOrEqual(t, m.Own, int64(smallest))
				require.Equal(t, m.Own, m.Held, "all keys were asked for")
			}
		})
	}
}

func TestBrokenCachesAreNoticed(t *testing.T) {
	for says, c := range map[string]*contender{
		"is not the one that was set": wrapped(func(s store) store { return &flipping{store: s} }),
		"bytes, want ":                wrapped(func(s store) store { return &mixing{s, newEntries()} }),
		fmt.Sprintf("(the cache says %d), and at most %d may be", 8*smallest, smallest)[40:]: {name: "broken", open: hoarding},
		"only ": {name: "broken", open: forgetting},
		"only 0 bytes of keys and values are held of": wrapped(func(s store) store { return refusing{s} }),
	} {
		t.Run(says, func(t *testing.T) {
			require.Contains(t, timed(t, c).Wrong, says)
		})
	}
}

func TestRefusedSetsAreCounted(t *testing.T) {
	m := timed(t, wrapped(func(s store) store { return refusing{s} }))
	require.Equal(t, m.Quiet.Ops, m.Quiet.Refused)
	require.Equal(t, m.Garbage.Ops, m.Garbage.Refused)
}

// TestGetsAreSampled: one of 64, by each client.
func TestGetsAreSampled(t *testing.T) {
	c := newClient(newEntries(), nullStore{}, true)
	c.serve(make([]uint32, 1000))
	require.Equal(t, int64(16), c.times.TotalCount())
	live := 0
	for _, r := range c.requests {
		if r != nil {
			live++
		}
	}
	require.Equal(t, kept, live)
}

// TestGarbageIsMade: 2 KiB for each operation where there is to be garbage, else next to none.
func TestGarbageIsMade(t *testing.T) {
	for garbage, want := range map[bool]uint64{false: 0, true: 2000 * 2000} {
		c := newClient(newEntries(), nullStore{}, garbage)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c.serve(make([]uint32, 2000))
		runtime.ReadMemStats(&after)
		require.InDelta(t, want, after.TotalAlloc-before.TotalAlloc, 100_000)
	}
}

func TestNoSuchContender(t *testing.T) {
	_, err := spec{Contender: "nobody"}.measure()
	require.EqualError(t, err, `no contender "nobody"`)
}

func TestBound(t *testing.T) {
	b := bound{bytes: 1 << 30, mean: 512}
	require.Equal(t, 2<<20, b.entries())
	require.Equal(t, 1<<30+20*(2<<20), b.plus(20))
	require.Equal(t, 256, b.shards(256))
	require.Equal(t, 1024, b.shards(1024))
	for bytes, want := range map[int]int{
		0: 1, 1 << 18: 1, 1 << 19: 2, 3 << 18: 2, smallest: 16, 32 << 20: 128, 64 << 20: 256,
	} {
		require.Equal(t, want, bound{bytes: bytes}.shards(256), bytes)
	}
}
