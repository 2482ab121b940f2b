package main

import (
	"slices"
	"strings"
	"time"

	"github.com/maypok86/otter/v2"
)

// otterStore is maypok86/otter. It has keys and values as objects on the Go heap, and get returns
// the object.
type otterStore struct {
	c *otter.Cache[string, otterValue]
}

// otterValue is a value with its lifetime, which the cache reads when it is set.
type otterValue struct {
	bytes []byte
	ttl   time.Duration
}

// forever is the lifetime of entries that have none: otter has one for each entry or for none.
const forever = 100 * 365 * 24 * time.Hour

func newOtter(b bound) (store, error) {
	c, err := otter.New(&otter.Options[string, otterValue]{
		MaximumWeight: uint64(b.bytes),
		Weigher:       func(key string, v otterValue) uint32 { return uint32(len(key) + len(v.bytes)) },
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[string, otterValue]) time.Duration {
			return e.Value.ttl
		}),
	})
	return &otterStore{c}, err
}

func (s *otterStore) get(key string, _ []byte) ([]byte, bool) {
	v, ok := s.c.GetIfPresent(key)
	return v.bytes, ok
}

func (s *otterStore) set(key string, value []byte, ttl time.Duration) bool {
	if ttl == 0 {
		ttl = forever
	}
	s.c.Set(strings.Clone(key), otterValue{slices.Clone(value), ttl})
	return true
}

func (s *otterStore) bytes() int { return int(s.c.WeightedSize()) }

func (s *otterStore) close() error {
	s.c.StopAllGoroutines()
	return nil
}
