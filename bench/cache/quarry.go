package main

import (
	"errors"
	"time"

	"quarry/alloc"
	"quarry/alloc/examples/cache"
	"quarry/mmap"
)

// quarryShards is the number of shards where the bound is large.
const quarryShards = 256

// forGo is the bytes of the Go heap where the collector's setting fits.
const forGo = 64 << 20

// quarryStore is alloc/examples/cache on a heap of a universe. get copies into the caller's buffer.
type quarryStore struct {
	c      *cache.Cache
	heap   *alloc.Heap
	u      *alloc.Universe
	before *alloc.GC // the collector's setting; nil: it was not changed
}

func newQuarry(fits bool) func(bound) (store, error) {
	return func(b bound) (store, error) {
		u, err := alloc.NewUniverse()
		if err != nil {
			return nil, err
		}
		heap, err := alloc.NewHeap(u)
		if err != nil {
			return nil, errors.Join(err, u.Close())
		}
		s := &quarryStore{heap: heap, u: u}
		if s.c, err = cache.New(heap, b.shards(quarryShards), b.plus(cache.Header)); err != nil {
			return nil, errors.Join(err, heap.Close(), u.Close())
		}
		if fits && mmap.Real { // elsewhere, as in race builds, the universe is part of the Go heap
			off := int64(u.Stats().Committed)
			gc, err := alloc.GCFor(off+forGo, off)
			if err != nil {
				return nil, errors.Join(err, s.close())
			}
			before := gc.Apply()
			s.before = &before
		}
		return s, nil
	}
}

func (s *quarryStore) get(key string, into []byte) ([]byte, bool) { return s.c.Get(key, into) }

func (s *quarryStore) set(key string, value []byte, ttl time.Duration) bool {
	var until time.Time
	if ttl > 0 {
		until = time.Now().Add(ttl)
	}
	return s.c.Set(key, value, until) == nil
}

func (s *quarryStore) bytes() int { return -1 }

func (s *quarryStore) close() error {
	if s.before != nil {
		s.before.Apply()
	}
	s.c.Close()
	return errors.Join(s.heap.Close(), s.u.Close())
}
