// Package cache is an example: a cache of bytes by string key, off the heap, with an order of use
// and times to live. All entries, keys and values lie in blocks of an allocator, and a collection of
// garbage marks a few KiB for each shard.
//
//	shard   Map: hash -> reference     Pool of entries            Blocks
//	        +----------+------+        +-----------------------+  +-----+-------+
//	        | hash 8 B | 8 B  |------->| newer, older ... 48 B |->| key | value |
//	        +----------+------+        +-----------------------+  +-----+-------+
//
// Any goroutine may call a Cache. An expired entry goes when it is asked for, or as the oldest.
// After an error of Set, which is the allocator's, the key has no value; nothing else has changed
// but that older entries made room.
package cache

import (
	"errors"
	"hash/maphash"
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
// most its part. The allocator must be for any goroutine, as a Heap is.
func New(from alloc.Allocator, shards, bytes int) (*Cache, error) {
	c := &Cache{seed: maphash.MakeSeed()}
	for range shards {
		index, err := container.NewMap[uint64, alloc.Ref[entry]](from)
		if err != nil {
			return nil, err
		}
		entries, err := alloc.NewPool[entry](from)
		if err != nil {
			return nil, err
		}
		c.shards = append(c.shards, &shard{index: index, entries: entries, blocks: alloc.NewBlocks(from), most: bytes / shards})
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
	r, e, block := s.find(hash)
	if e == nil || string(block[:e.keyLen]) != key {
		return into, false
	}
	if r != s.newest {
		s.unlink(e)
		s.link(r, e)
	}
	return append(into, block[e.keyLen:]...), true
}

// Set keeps a copy of a value, for a time to live if that is above 0.
func (c *Cache) Set(key string, value []byte, live time.Duration) error {
	until := int64(0)
	if live > 0 {
		until = time.Now().Add(live).UnixNano()
	}
	s, hash := c.lock(key)
	defer s.mu.Unlock()
	if r, e, _ := s.find(hash); e != nil {
		s.remove(r, e)
	}
	return s.add(hash, key, value, until)
}

// Delete ends a key and reports whether it had a value.
func (c *Cache) Delete(key string) bool {
	s, hash := c.lock(key)
	defer s.mu.Unlock()
	r, e, block := s.find(hash)
	if e == nil || string(block[:e.keyLen]) != key {
		return false
	}
	s.remove(r, e)
	return true
}

// Len returns the number of entries, with those expired that nobody has asked for.
func (c *Cache) Len() (n int) {
	for _, s := range c.shards {
		s.mu.Lock()
		n += s.blocks.Len()
		s.mu.Unlock()
	}
	return n
}

// Bytes returns the bytes of keys and values.
func (c *Cache) Bytes() (n int) {
	for _, s := range c.shards {
		s.mu.Lock()
		n += s.blocks.Size()
		s.mu.Unlock()
	}
	return n
}

// Close gives all memory back. No other call may be under way.
func (c *Cache) Close() error {
	var errs []error
	for _, s := range c.shards {
		for s.entries.Len() > 0 {
			s.remove(s.oldest, s.entries.Get(s.oldest))
		}
		s.index.Close()
		errs = append(errs, s.blocks.Close(), s.entries.Close())
	}
	return errors.Join(errs...)
}
