package main

import "time"

// nullStore holds nothing: each get misses. Its row is what the harness takes by itself: making
// keys, and a value for each get, which others do at a miss only.
type nullStore struct{}

func newNull(bound) (store, error) { return nullStore{}, nil }

func (nullStore) get(string, []byte) ([]byte, bool)      { return nil, false }
func (nullStore) set(string, []byte, time.Duration) bool { return true }
func (nullStore) bytes() int                             { return -1 }
func (nullStore) close() error                           { return nil }
