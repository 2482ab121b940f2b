package alloc

import (
	"sync"
	"sync/atomic"
)

// ahead takes chunks for slabs from the universe, by a growth policy.
type ahead struct {
	u      *Universe
	growth Growth
	slabs  atomic.Int64 // slabs of slots there are (H7)

	mu    sync.Mutex
	first ChunkIndex // of the chunks taken and not used yet; under mu
	n     int        // how many they are; under mu
}

// take returns a chunk. It never fails for want of the chunks that the policy
// would like on top.
func (a *ahead) take() (c ChunkIndex, err error) {
	if a.growth == (Growth{}) {
		c, err = a.u.AllocExact(1)
	} else {
		c, err = a.grow()
	}
	if err == nil {
		a.slabs.Add(1)
	}
	return c, err
}

func (a *ahead) grow() (c ChunkIndex, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.n == 0 {
		have := int(a.slabs.Load())
		want := min(a.growth.Next(have, have+1)-have, ChunksPerMegachunk)
		if a.first, a.n, err = a.u.Alloc(want); err != nil {
			a.n = 0
			return a.u.AllocExact(1)
		}
	}
	c = a.first
	a.first, a.n = a.first+1, a.n-1
	return c, nil
}

// give takes a slab's chunk back. With the last slab go the chunks taken ahead.
func (a *ahead) give(c ChunkIndex) {
	a.u.Free(c, 1)
	if a.slabs.Add(-1) == 0 {
		a.release()
	}
}

// release gives the chunks taken ahead back and reports whether there were some.
func (a *ahead) release() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.n == 0 {
		return false
	}
	a.u.Free(a.first, a.n)
	a.n = 0
	return true
}

// run returns the chunks taken ahead.
func (a *ahead) run() (first ChunkIndex, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.first, a.n
}
