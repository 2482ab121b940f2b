package main

import (
	"container/list"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"
)

// listShards is the number of shards of listStore where the bound is large.
const listShards = 256

// listStore is the cache that one writes without a library: in each shard a map to the elements of
// a list with the last used entry in front, and a mutex. get returns the value that was set, which
// nobody writes again.
type listStore struct {
	seed   maphash.Seed
	shards []listShard
}

type listShard struct {
	mu     sync.Mutex
	byKey  map[string]*list.Element
	used   *list.List
	have   int // bytes of keys and values
	atMost int
	_      [64]byte // the next shard's lock is in another line
}

type listEntry struct {
	key   string
	value []byte
	until time.Time // zero: forever
}

func newLists(b bound) (store, error) {
	s := &listStore{seed: maphash.MakeSeed(), shards: make([]listShard, b.shards(listShards))}
	for i := range s.shards {
		sh := &s.shards[i]
		sh.byKey, sh.used, sh.atMost = map[string]*list.Element{}, list.New(), b.bytes/len(s.shards)
	}
	return s, nil
}

func (s *listStore) shard(key string) *listShard {
	return &s.shards[maphash.String(s.seed, key)%uint64(len(s.shards))]
}

func (s *listStore) get(key string, _ []byte) ([]byte, bool) {
	sh := s.shard(key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	at, ok := sh.byKey[key]
	if !ok {
		return nil, false
	}
	e := at.Value.(*listEntry)
	if !e.until.IsZero() && time.Now().After(e.until) {
		sh.remove(at)
		return nil, false
	}
	sh.used.MoveToFront(at)
	return e.value, true
}

func (s *listStore) set(key string, value []byte, ttl time.Duration) bool {
	e := &listEntry{key: strings.Clone(key), value: slices.Clone(value)}
	if ttl > 0 {
		e.until = time.Now().Add(ttl)
	}
	sh := s.shard(key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if at, ok := sh.byKey[key]; ok {
		sh.remove(at)
	}
	sh.have += e.size()
	sh.byKey[e.key] = sh.used.PushFront(e)
	for sh.have > sh.atMost {
		sh.remove(sh.used.Back())
	}
	return true
}

func (sh *listShard) remove(at *list.Element) {
	e := sh.used.Remove(at).(*listEntry)
	delete(sh.byKey, e.key)
	sh.have -= e.size()
}

func (e *listEntry) size() int { return len(e.key) + len(e.value) }

func (s *listStore) bytes() (sum int) {
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		sum += sh.have
		sh.mu.Unlock()
	}
	return sum
}

func (s *listStore) close() error { return nil }
