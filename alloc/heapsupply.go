package alloc

import (
	"sync"
	"sync/atomic"
)

// supply is where a heap's chunks for slabs come from: the universe, one at a time or,
// by a growth policy, some ahead of need.
type supply struct {
	u      *Universe
	growth Growth
	slabs  atomic.Int64 // slabs of slots there are (H7)

	mu    sync.Mutex
	first ChunkIndex // of the chunks taken and not used yet; under mu
	n     int        // how many they are; under mu
}

// take returns a chunk. It never fails for want of the chunks that the policy
// would like on top.
func (s *supply) take() (c ChunkIndex, err error) {
	if s.growth == (Growth{}) {
		c, err = s.u.AllocExact(1)
	} else {
		c, err = s.grow()
	}
	if err == nil {
		s.slabs.Add(1)
	}
	return c, err
}

func (s *supply) grow() (c ChunkIndex, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n == 0 {
		have := int(s.slabs.Load())
		want := min(s.growth.Next(have, have+1)-have, ChunksPerMegachunk)
		if s.first, s.n, err = s.u.Alloc(want); err != nil {
			s.n = 0
			return s.u.AllocExact(1)
		}
	}
	c = s.first
	s.first, s.n = s.first+1, s.n-1
	return c, nil
}

// give takes a slab's chunk back. With the last slab go the chunks taken ahead.
func (s *supply) give(c ChunkIndex) {
	s.u.Free(c, 1)
	if s.slabs.Add(-1) == 0 {
		s.release()
	}
}

// release gives the chunks taken ahead back and reports whether there were some.
func (s *supply) release() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n == 0 {
		return false
	}
	s.u.Free(s.first, s.n)
	s.n = 0
	return true
}

// run returns the chunks taken ahead.
func (s *supply) run() (first ChunkIndex, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first, s.n
}

// newSlab makes a slab of a class in a chunk of its own, for a Local or, with owner 0,
// to be shared. The caller sets its state.
func (h *Heap) newSlab(number int, owner uint32) (*slab, error) {
	c, err := h.supply.take()
	if err != nil {
		return nil, err
	}
	k := &classes[number]
	s := h.table.made(c)
	// Nobody has a claim on this slab, so plain stores would do. Only one that never
	// had slots has other bits than ones in live.
	for i := range int(k.words) {
		if owner == 0 {
			s.words[i].live.Store(k.beyond(i))
			continue
		}
		if live := &s.words[i].live; live.Load() != ^uint64(0) {
			live.Store(^uint64(0))
		}
		store(&s.words[i].own, k.beyond(i))
	}
	s.low.Store(0)
	s.shape.Store(shapeOf(k))
	s.head.Store(headOf(kindSlots, number, 1, c, owner))
	return s, nil
}
