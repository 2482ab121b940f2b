package heap

import (
	"sync"
	"sync/atomic"

	"quarry/internal/universe"
	"quarry/internal/universe/sentinel"
)

// supply provides a heap's chunks for slabs. It takes them from the universe one at a time or, by a
// growth policy, some ahead of need.
type supply struct {
	u     *universe.Universe
	next  func(have, need int) int // how many chunks slabs have after growth; nil: one at a time
	slabs atomic.Int64             // number of slabs of slots (H7)
	rest  atomic.Int32             // requests that go to the overflow heaps first, since the universe was full

	mu    sync.Mutex
	first universe.ChunkIndex // first of the chunks taken ahead; under mu
	n     int                 // number of chunks taken ahead; under mu
}

// take returns a chunk. It does not fail for lack of the further chunks that the policy wants.
func (s *supply) take() (c universe.ChunkIndex, err error) {
	if s.resting() {
		return 0, sentinel.ErrFull
	}
	if s.next == nil {
		c, err = s.u.AllocExact(1)
	} else {
		c, err = s.grow()
	}
	if err == nil {
		s.slabs.Add(1)
	}
	return c, err
}

// resting reports whether a request is to go to the overflow heaps before it comes here, and counts
// it.
func (s *supply) resting() bool {
	return s.rest.Load() > 0 && s.rest.Add(-1) >= 0
}

func (s *supply) grow() (c universe.ChunkIndex, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n == 0 {
		have := int(s.slabs.Load())
		want := min(s.next(have, have+1)-have, universe.ChunksPerMegachunk)
		if s.first, s.n, err = s.u.Alloc(want); err != nil {
			s.n = 0
			return s.u.AllocExact(1)
		}
	}
	c = s.first
	s.first, s.n = s.first+1, s.n-1
	return c, nil
}

// give frees a slab's chunk. Chunks taken ahead are freed with the last slab.
func (s *supply) give(c universe.ChunkIndex) {
	s.u.Free(c, 1)
	if s.slabs.Add(-1) == 0 {
		s.release()
	}
}

// release frees the chunks taken ahead and reports whether there were any.
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
func (s *supply) run() (first universe.ChunkIndex, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first, s.n
}

// newSlab makes a slab of a class in a new chunk, owned by a Local or, with owner 0, to be shared.
// The caller sets its state.
func (h *Heap) newSlab(number int, owner uint32) (*slab, error) {
	c, err := h.supply.take()
	if err != nil {
		return nil, err
	}
	k := &classes[number]
	s := h.table.made(c)
	// No one has a claim on this slab, so plain stores would do. Its live words are all ones unless
	// the slab never had slots.
	for i := range int(k.words) {
		if owner == 0 {
			s.live[i].Store(k.beyond(i))
			continue
		}
		if live := &s.live[i]; live.Load() != ^uint64(0) {
			live.Store(^uint64(0))
		}
	}
	if owner != 0 {
		for i := range s.own() {
			store(&s.own()[i], 0)
		}
	}
	s.low.Store(0)
	s.shape.Store(shapeOf(k))
	s.head.Store(headOf(kindSlots, number, 1, c, owner))
	return s, nil
}
