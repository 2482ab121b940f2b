package alloc_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// TestSoak has 8 goroutines work on one universe at once: four take runs of chunks,
// fill and check them, four use a heap on it and Locals of that, while a ninth
// trims. QUARRY_SOAK is the duration.
func TestSoak(t *testing.T) {
	u := newUniverse(t, alloc.Size(48<<20), alloc.Retain(2<<20), alloc.PurgeAfter(time.Millisecond))
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	scavenging(t, alloc.Scavenger{Percent: 100})
	s := &stress{h: h, until: time.Now().Add(soak(t)), passing: make(chan sized, 200)}
	stop := u.MaintainEvery(2 * time.Millisecond)
	errs := make([]error, 8)
	var all sync.WaitGroup
	for g := range errs {
		all.Go(func() {
			if g%2 == 0 {
				errs[g] = s.work(uint64(g))
			} else {
				errs[g] = soakChunks(u, byte(g), s.until)
			}
		})
	}
	all.Wait()
	stop()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Zero(t, s.bad.Load(), "cookies that were overwritten")
	for len(s.passing) > 0 {
		b := <-s.passing
		require.False(t, wrong(b.p, b.size))
		h.Free(b.p)
	}
	require.NoError(t, h.Verify())
	require.NoError(t, u.Verify())
	require.NoError(t, h.Close())
	require.Zero(t, u.Stats().LiveChunks)
}

// soakChunks takes, fills, checks and gives back runs of chunks until the time is up.
func soakChunks(u *alloc.Universe, mark byte, until time.Time) error {
	type run struct {
		first alloc.ChunkIndex
		n     int
	}
	rng := rand.New(rand.NewPCG(uint64(mark), 99))
	var held []run
	drop := func(i int) error {
		r := held[i]
		held[i] = held[len(held)-1]
		held = held[:len(held)-1]
		for k := range r.n {
			if b := u.Bytes(r.first+alloc.ChunkIndex(k), 1); b[0] != mark || b[alloc.ChunkSize-1] != mark {
				return fmt.Errorf("chunk %d: got marks %d and %d want %d",
					int(r.first)+k, b[0], b[alloc.ChunkSize-1], mark)
			}
		}
		u.Free(r.first, r.n)
		return nil
	}
	for step := 0; step%64 != 0 || time.Now().Before(until); step++ {
		if len(held) < 60 && rng.IntN(2) == 0 {
			n := 1 + rng.IntN(1<<rng.IntN(5))
			take := u.Alloc
			if rng.IntN(8) == 0 {
				take = u.AllocZeroed
			}
			first, got, err := take(n)
			if err != nil {
				return err
			}
			for k := range got {
				b := u.Bytes(first+alloc.ChunkIndex(k), 1)
				b[0], b[alloc.ChunkSize-1] = mark, mark
			}
			held = append(held, run{first, got})
		} else if len(held) > 0 {
			if err := drop(rng.IntN(len(held))); err != nil {
				return err
			}
		}
		if rng.IntN(1000) == 0 {
			if _, err := u.Trim(0); err != nil {
				return err
			}
		}
	}
	for len(held) > 0 {
		if err := drop(0); err != nil {
			return err
		}
	}
	return nil
}
