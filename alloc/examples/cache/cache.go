package cache

import (
	"errors"
	"hash/maphash"
	"math"
	"time"

	"quarry/alloc"
	"quarry/alloc/container"
)

// Cache keeps bytes by string key. What was used least recently goes first.
type Cache struct {
	seed   maphash.Seed
	shards []*shard
}

// New returns a cache whose keys and values have at most so many bytes, and those of a shard at
// most its part. The allocator must be for any goroutine, as a Heap is. There is a shard at least.
func New(from alloc.Allocator, shards, bytes int) (*Cache, error) {
	shards = max(shards, 1)
	c := &Cache{seed: maphash.MakeSeed()}
	for range shards {
		index, errIndex := container.NewMap[uint64, alloc.Ref[entry]](from)
		order, errOrder := container.NewList[entry](from)
		if err := errors.Join(errIndex, errOrder); err != nil {
			return nil, err
		}
		c.shards = append(c.shards, &shard{index: index, order: order, blocks: alloc.NewBlocks(from), most: bytes / shards})
	}
	return c, nil
}

// lock returns the locked shard of a key, and the key's hash.
func (c *Cache) lock(key string) (*shard, uint64) {
	hash := maphash.String(c.seed, key)
	s := c.shards[hash%uint64(len(c.shards))]
	s.mu.Lock()
	return s, hash
}

// Get appends the value of a key to into, and reports whether the cache has one.
func (c *Cache) Get(key string, into []byte) (value []byte, ok bool) {
	s, hash := c.lock(key)
	defer s.mu.Unlock()
	r, e, value := s.find(hash, key)
	if e == nil {
		return into, false
	}
	s.order.MoveToFront(r)
	return append(into, value...), true
}

// Set keeps a copy of a value, for a time to live if that is above 0.
func (c *Cache) Set(key string, value []byte, live time.Duration) error {
	until, now := int64(0), time.Now().UnixNano()
	if live > 0 && int64(live) <= math.MaxInt64-now { // what ends after 2262 does not end
		until = now + int64(live)
	}
	s, hash := c.lock(key)
	defer s.mu.Unlock()
	return s.add(hash, key, value, until)
}

// Delete ends a key and reports whether it had a value.
func (c *Cache) Delete(key string) bool {
	s, hash := c.lock(key)
	defer s.mu.Unlock()
	r, e, _ := s.find(hash, key)
	if e != nil {
		s.remove(r)
	}
	return e != nil
}

// Stats returns the number of entries, with those expired that nobody has asked for, and the bytes
// of their keys and values.
func (c *Cache) Stats() (entries, bytes int) {
	for _, s := range c.shards {
		s.mu.Lock()
		entries, bytes = entries+s.blocks.Len(), bytes+s.blocks.Size()
		s.mu.Unlock()
	}
	return entries, bytes
}

// Close gives all memory back. No other call may be under way.
func (c *Cache) Close() (err error) {
	for _, s := range c.shards {
		for s.order.Len() > 0 {
			s.remove(s.order.Back())
		}
		s.index.Close()
		s.order.Close()
		err = errors.Join(err, s.blocks.Close())
	}
	return err
}
