package cache

import (
	"encoding/binary"
	"hash/maphash"
	"sync"
	"time"

	"quarry/alloc"
	"quarry/alloc/container"
)

// Cache keeps bytes by string key. Any goroutine may call it.
type Cache struct {
	from   alloc.Allocator
	seed   maphash.Seed
	shards []*shard
}

// shard is a part of a cache. It writes entries one behind the other, and at the end of its ring
// begins again at the front, over those of the lap before:
//
//	| entries of this lap | room | entries of the lap before | unused |
//	0                     head   next                        end      len(ring)
type shard struct {
	mu              sync.Mutex
	index           *container.Map[uint32, uint32] // from a hash to the place of its entry
	ring            []byte
	head, next, end int // places; next is len(ring) when nothing of the lap before is left
}

// Header is the bytes that an entry has beside key and value. At usedAt is 1 if the entry was read
// on this lap. A Set moves at most mostMoved entries, as all of a shard may be in use.
const Header, usedAt, mostMoved = 21, 20, 16

// entry returns the bytes of the entry at a place. Numbers below are the places of its fields:
//
//	| until, ms 8 B | hash 4 B | size 4 B | size of the key 4 B | used 1 B | key | value |
//	0               8          12         16                    20         21
func (s *shard) entry(at uint32) []byte { return s.ring[at:][:number(s.ring[at:], 12)] }

func number(entry []byte, at int) uint32 { return binary.LittleEndian.Uint32(entry[at:]) }
func isOf(entry []byte, key string) bool { return string(entry[Header:][:number(entry, 16)]) == key }

// New returns a cache whose entries have at most so many bytes with their headers, those of a shard
// at most its part. There is a shard at least. The allocator must be for any goroutine, as a Heap.
func New(from alloc.Allocator, shards, bytes int) (*Cache, error) {
	c := &Cache{from: from, seed: maphash.MakeSeed()}
	for range max(shards, 1) {
		index, _ := container.NewMap[uint32, uint32](from) // an error is of a type with pointers
		ring, err := alloc.MakeSlice[byte](from, 0, min(max(bytes, 0)/max(shards, 1), 1<<32-1))
		if err != nil {
			c.Close()
			return nil, err
		}
		c.shards = append(c.shards, &shard{index: index, ring: ring[:cap(ring)], next: cap(ring)})
	}
	return c, nil
}

// lock returns the locked shard of a key, and the key's hash there.
func (c *Cache) lock(key string) (*shard, uint32) {
	hash := maphash.String(c.seed, key)
	s := c.shards[uint64(uint32(hash))%uint64(len(c.shards))]
	s.mu.Lock()
	return s, uint32(hash >> 32)
}

// Get appends the value of a key to into, and reports whether the cache has one.
func (c *Cache) Get(key string, into []byte) (value []byte, ok bool) {
	s, hash := c.lock(key)
	defer s.mu.Unlock()
	if at, there := s.index.Get(hash); there {
		e, until := s.entry(at), int64(binary.LittleEndian.Uint64(s.ring[at:]))
		if isOf(e, key) && (until < 0 || time.Now().UnixMilli() < until) {
			e[usedAt] = 1
			return append(into, e[Header+len(key):]...), true
		}
	}
	return into, false
}

// Set keeps a copy of a value until a time, or for ever if that is before 1970, as the zero Time
// is. Of two keys with the same hash in a shard the cache has the later.
func (c *Cache) Set(key string, value []byte, until time.Time) error {
	s, hash := c.lock(key)
	defer s.mu.Unlock()
	s.index.Delete(hash)
	size := Header + len(key) + len(value)
	if size > len(s.ring) {
		return nil // it would have to go at once
	}
	for moved := 0; s.head+size > s.next; {
		if s.next == len(s.ring) { // a lap is over
			s.head, s.next, s.end = 0, 0, s.head
		}
		at, e := uint32(s.next), s.entry(uint32(s.next))
		if s.next += len(e); s.next == s.end {
			s.next = len(s.ring)
		}
		if place := s.index.At(number(e, 8)); place == nil || *place != at {
			continue // it was deleted or set anew
		} else if e[usedAt] == 0 || moved == mostMoved {
			s.index.Delete(number(e, 8))
		} else { // it goes to this lap
			*place, e[usedAt], moved = uint32(s.head), 0, moved+1
			s.head += copy(s.ring[s.head:], e)
		}
	}
	if err := s.index.Set(hash, uint32(s.head)); err != nil {
		return err
	}
	e := binary.LittleEndian.AppendUint64(s.ring[:s.head], uint64(until.Sub(time.UnixMilli(0)).Milliseconds()))
	e = binary.LittleEndian.AppendUint64(e, uint64(hash)|uint64(size)<<32)
	s.head = len(append(append(append(binary.LittleEndian.AppendUint32(e, uint32(len(key))), 0), key...), value...))
	return nil
}

// Delete ends a key and reports whether it had an entry, also one whose time was over.
func (c *Cache) Delete(key string) bool {
	s, hash := c.lock(key)
	defer s.mu.Unlock()
	place := s.index.At(hash)
	return place != nil && isOf(s.entry(*place), key) && s.index.Delete(hash)
}

// Close gives all memory back. No other call may be under way.
func (c *Cache) Close() {
	for _, s := range c.shards {
		s.index.Close()
		alloc.FreeSlice(c.from, s.ring)
	}
}
