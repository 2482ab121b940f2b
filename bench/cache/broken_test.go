package main

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Caches that are broken, each in one way. They wrap a listStore.

// flipping returns a value with another byte once in a thousand gets.
type flipping struct {
	store
	mu   sync.Mutex
	gets int
}

func (s *flipping) get(key string, into []byte) ([]byte, bool) {
	value, ok := s.store.get(key, into)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gets++; ok && s.gets%1000 == 0 {
		value = append(into, value...)
		value[len(value)-1] ^= 1
	}
	return value, ok
}

// mixing returns the value of another key now and then.
type mixing struct {
	store
	e *entries
}

func (s *mixing) get(key string, into []byte) ([]byte, bool) {
	value, ok := s.store.get(key, into)
	if ok && rand.N(1000) == 0 {
		return s.e.value(rand.Uint32(), nil), true
	}
	return value, ok
}

// hoarding evicts nothing: its bound is another.
func hoarding(b bound) (store, error) {
	b.bytes *= 8
	return newLists(b)
}

// forgetting holds half of what it may.
func forgetting(b bound) (store, error) {
	b.bytes /= 2
	return newLists(b)
}

// undying keeps entries beyond their time.
type undying struct{ store }

func (s undying) set(key string, value []byte, _ time.Duration) bool {
	return s.store.set(key, value, 0)
}

// hasty ends all entries at once that have a lifetime.
type hasty struct{ store }

func (s hasty) set(key string, value []byte, ttl time.Duration) bool {
	return ttl > 0 || s.store.set(key, value, 0)
}

// sweeping gives all entries a lifetime, which is over for all of them when the first is missed.
type sweeping struct{ store }

func (s sweeping) set(key string, value []byte, _ time.Duration) bool {
	return s.store.set(key, value, shortLife/2)
}

// refusing takes nothing and returns false.
type refusing struct{ store }

func (refusing) set(string, []byte, time.Duration) bool { return false }

// wrapped is a contender whose lists are wrapped.
func wrapped(wrap func(store) store) *contender {
	return &contender{name: "broken", open: func(b bound) (store, error) {
		s, err := newLists(b)
		return wrap(s), err
	}}
}
