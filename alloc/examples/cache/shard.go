package cache

import (
	"sync"
	"time"

	"quarry/alloc"
	"quarry/alloc/container"
)

// shard is a part of a cache, with a lock of its own.
type shard struct {
	mu             sync.Mutex
	index          *container.Map[uint64, alloc.Ref[entry]] // by hash of the key
	entries        *alloc.Pool[entry]
	blocks         *alloc.Blocks    // of a key and its value each
	newest, oldest alloc.Ref[entry] // by use
	most           int              // bytes of keys and values
}

// entry is a key with its value. It has no pointer: references name its neighbors and its block.
type entry struct {
	newer, older alloc.Ref[entry]
	block        alloc.BlockRef
	hash         uint64
	keyLen       int
	until        int64 // ns since 1970; 0: no end
}

// find returns the entry of a hash and its block, both nil if there is none that lives. The cache
// has one entry for each hash: of two keys with the same 64 bits the later.
func (s *shard) find(hash uint64) (r alloc.Ref[entry], e *entry, block []byte) {
	r, ok := s.index.Get(hash)
	if !ok {
		return r, nil, nil
	}
	e = s.entries.Get(r)
	if e.until != 0 && time.Now().UnixNano() >= e.until {
		s.remove(r, e)
		return r, nil, nil
	}
	return r, e, s.blocks.Bytes(e.block)
}

// add makes an entry, of a hash that has none. Older ones make room for it.
func (s *shard) add(hash uint64, key string, value []byte, until int64) error {
	size := len(key) + len(value)
	if size > s.most {
		return nil // it would have to go at once
	}
	for s.blocks.Size()+size > s.most {
		s.remove(s.oldest, s.entries.Get(s.oldest))
	}
	block, err := s.blocks.Alloc(size, 1)
	if err != nil {
		return err
	}
	e, err := s.entries.New()
	if err != nil {
		s.blocks.Free(block)
		return err
	}
	r := s.entries.Ref(e)
	if err := s.index.Set(hash, r); err != nil {
		s.blocks.Free(block)
		s.entries.Free(e)
		return err
	}
	b := s.blocks.Bytes(block)
	copy(b[copy(b, key):], value)
	*e = entry{block: block, hash: hash, keyLen: len(key), until: until}
	s.link(r, e)
	return nil
}

// remove ends an entry.
func (s *shard) remove(r alloc.Ref[entry], e *entry) {
	s.unlink(e)
	s.index.Delete(e.hash)
	s.blocks.Free(e.block)
	s.entries.Free(e)
}

// link makes an entry the newest.
func (s *shard) link(r alloc.Ref[entry], e *entry) {
	e.newer, e.older = alloc.Ref[entry]{}, s.newest
	if older := s.entries.Get(s.newest); older != nil {
		older.newer = r
	} else {
		s.oldest = r
	}
	s.newest = r
}

// unlink takes an entry out of the order of use.
func (s *shard) unlink(e *entry) {
	if newer := s.entries.Get(e.newer); newer != nil {
		newer.older = e.older
	} else {
		s.newest = e.older
	}
	if older := s.entries.Get(e.older); older != nil {
		older.newer = e.newer
	} else {
		s.oldest = e.newer
	}
}
