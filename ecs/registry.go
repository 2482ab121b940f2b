package ecs

import "sync/atomic"

// registry is the types of a world.
type registry struct {
	list    []*typeInfo // by typeID
	byKey   map[typeKey]typeID
	shared  signature     // that are shared
	cleanup signature     // registered with Cleanup
	serial  atomic.Uint64 // of the shared value that was made last
}

func (r *registry) open() { r.byKey = map[typeKey]typeID{} }
