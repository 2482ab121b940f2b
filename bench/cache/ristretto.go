package main

import (
	"slices"
	"time"

	"github.com/dgraph-io/ristretto/v2"
)

// ristrettoStore is dgraph-io/ristretto. It has values as objects on the Go heap, and get returns
// the object; of a key it keeps two hashes. Sets wait in a channel, and are dropped when that is
// full or when the policy finds the others more useful.
type ristrettoStore struct {
	c *ristretto.Cache[string, []byte]
}

// Its documentation's advice: ten counters for each entry that fits, and buffers of 64.
const (
	ristrettoCounters = 10
	ristrettoBuffer   = 64
)

func newRistretto(b bound) (store, error) {
	c, err := ristretto.NewCache(&ristretto.Config[string, []byte]{
		NumCounters:            int64(ristrettoCounters * b.entries()),
		MaxCost:                int64(b.bytes),
		BufferItems:            ristrettoBuffer,
		IgnoreInternalCost:     true,
		TtlTickerDurationInSec: 1,
	})
	return &ristrettoStore{c}, err
}

func (s *ristrettoStore) get(key string, _ []byte) ([]byte, bool) { return s.c.Get(key) }

func (s *ristrettoStore) set(key string, value []byte, ttl time.Duration) bool {
	return s.c.SetWithTTL(key, slices.Clone(value), int64(len(key)+len(value)), ttl)
}

func (s *ristrettoStore) bytes() int { return int(s.c.MaxCost() - s.c.RemainingCost()) }

// settle waits until the sets so far have been taken or dropped, for tests.
func (s *ristrettoStore) settle() { s.c.Wait() }

func (s *ristrettoStore) close() error {
	s.c.Close()
	return nil
}
