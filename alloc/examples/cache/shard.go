package cache

import (
	"sync"
	"time"

	"quarry/alloc"
	"quarry/alloc/container"
)

// shard is a part of a cache, with a lock of its own.
type shard struct {
	mu     sync.Mutex
	index  *container.Map[uint64, alloc.Ref[entry]] // by hash of the key
	order  *container.List[entry]                   // what was used last is first
	blocks *alloc.Blocks                            // of a key and its value each
	most   int                                      // bytes of keys and values
}

// entry is a key with its value.
type entry struct {
	hash   uint64
	block  alloc.BlockRef
	keyLen int
	until  int64 // ns since 1970; 0: no end
}

// find returns the entry of a key and its value, both nil if there is none that lives.
func (s *shard) find(hash uint64, key string) (r alloc.Ref[entry], e *entry, value []byte) {
	r, ok := s.index.Get(hash)
	if !ok {
		return r, nil, nil
	}
	e = s.order.Get(r)
	if e.until != 0 && time.Now().UnixNano() >= e.until {
		s.remove(r)
		return r, nil, nil
	}
	block := s.blocks.Bytes(e.block)
	if string(block[:e.keyLen]) != key {
		return r, nil, nil
	}
	return r, e, block[e.keyLen:]
}

// add makes an entry in place of any with its hash: of two keys with the same 64 bits the cache has
// the later. The least recently used make room for it.
func (s *shard) add(hash uint64, key string, value []byte, until int64) error {
	if old, ok := s.index.Get(hash); ok {
		s.remove(old)
	}
	size := len(key) + len(value)
	if size > s.most {
		return nil // it would have to go at once
	}
	for s.blocks.Size()+size > s.most {
		s.remove(s.order.Back())
	}
	r, err := s.order.PushFront(entry{hash: hash, keyLen: len(key), until: until})
	if err != nil {
		return err
	}
	e := s.order.Get(r)
	if err = s.index.Set(hash, r); err == nil {
		e.block, err = s.blocks.Alloc(size, 1)
	}
	if err != nil {
		s.remove(r)
		return err
	}
	block := s.blocks.Bytes(e.block)
	copy(block[copy(block, key):], value)
	return nil
}

// remove ends an entry.
func (s *shard) remove(r alloc.Ref[entry]) {
	e := s.order.Remove(r)
	s.index.Delete(e.hash)
	s.blocks.Free(e.block)
}
