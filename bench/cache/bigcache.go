package main

import (
	"context"
	"time"

	"github.com/allegro/bigcache/v3"
)

// bigStore is allegro/bigcache. Get returns a copy that it allocates. HardMaxCacheSize is in MiB.
type bigStore struct{ c *bigcache.BigCache }

// bigOverhead is what bigcache's queue holds for an entry beside key and value: the headers of
// wrapEntry and of the queue.
const bigOverhead = 18 + 2

func newBigcache(b bound) (store, error) {
	c := bigcache.DefaultConfig(b.ttl)
	c.Shards = b.shards(c.Shards)
	c.MaxEntriesInWindow = b.entries()
	c.MaxEntrySize = int(b.mean) + bigOverhead
	c.HardMaxCacheSize = max(1, (b.plus(bigOverhead)+1<<19)>>20)
	c.Verbose = false
	cache, err := bigcache.New(context.Background(), c)
	return &bigStore{cache}, err
}

func (s *bigStore) get(key string, _ []byte) ([]byte, bool) {
	value, err := s.c.Get(key)
	return value, err == nil
}

func (s *bigStore) set(key string, value []byte, _ time.Duration) bool {
	return s.c.Set(key, value) == nil
}

func (s *bigStore) bytes() int   { return -1 }
func (s *bigStore) close() error { return s.c.Close() }
