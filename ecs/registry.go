package ecs

import (
	"fmt"
	"sync/atomic"

	"quarry/ecs/internal/entity"
)

// The types of a world. Types are only added, in the order in which the program registers them, so
// a typeID is valid for the life of the world.
//
// Invariants, checked by verify:
//
//	T1 A type's id is its place in the list. The built-in types come first; byKey finds each other
//	   type by its key, and nothing else.
//	T2 shared has exactly the shared types, cleanup exactly the types with Cleanup, copied exactly
//	   the managed types with CopyWith, in order.
//	L2 of lookup.go.

// registry holds the types of a world.
type registry struct {
	list    []*typeInfo              // by typeID
	byKey   map[typeKey]typeID       // without the built-in types; nil until there is another
	shared  signature                // the shared types
	cleans  bool                     // cleanup is not empty
	sparse  []*typeInfo              // the sparse types
	copied  []*typeInfo              // the managed types with CopyWith
	cleanup signature                // the types registered with Cleanup
	serial  atomic.Uint64            // of the newest shared value
	hashes  atomic.Pointer[[]uint64] // of the types, by typeID, see World.typeHashes; nil until somebody asks
}

// leastTypes is the number of types that a world makes room for at first.
const leastTypes = 2 * int(builtIn)

func (r *registry) open() { r.list = make([]*typeInfo, 0, leastTypes) }

// find returns the id of the type with the given key, and false if there is none.
func (r *registry) find(key typeKey) (typeID, bool) {
	for _, t := range r.list[:min(len(r.list), int(builtIn))] {
		if t.key() == key {
			return t.id, true
		}
	}
	id, ok := r.byKey[key]
	return id, ok
}

// add appends a new type, whose id is its place.
func (r *registry) add(t *typeInfo) {
	r.list = append(r.list, t)
	if t.id >= builtIn {
		if r.byKey == nil {
			r.byKey = map[typeKey]typeID{}
		}
		r.byKey[t.key()] = t.id
	}
	if t.kind == KindShared {
		r.shared.Add(t.id)
	}
	if t.cleanup {
		r.cleanup.Add(t.id)
		r.cleans = true
	}
	if t.kind == KindSparse {
		r.sparse = append(r.sparse, t)
	}
	if t.copies() {
		r.copied = append(r.copied, t)
	}
}

// verify checks T1 and T2, and L2 against the given records.
func (r *registry) verify(records entity.View) error {
	if len(r.byKey) != len(r.list)-int(builtIn) {
		return fmt.Errorf("ecs: T1: %d types are found by their keys, there are %d beside the %d built-in ones", len(r.byKey), len(r.list)-int(builtIn), builtIn)
	}
	var shared, cleanup signature
	copied := 0
	for i, t := range r.list {
		if id, ok := r.find(t.key()); int(t.id) != i || !ok || id != t.id {
			return fmt.Errorf("ecs: T1: type %d is %s, its id is %d, and its key finds %d", i, t.name, t.id, id)
		}
		if t.kind == KindShared {
			shared.Add(t.id)
		}
		if t.cleanup {
			cleanup.Add(t.id)
		}
		if t.copies() {
			if copied == len(r.copied) || r.copied[copied] != t {
				return fmt.Errorf("ecs: T2: %s has a copy function and is not number %d of %d such types", t.name, copied, len(r.copied))
			}
			copied++
		}
		if t.writers == 0 && !t.Shows(records) {
			return fmt.Errorf("ecs: L2: look-ups of %s do not see the world's records %+v", t.name, records)
		}
	}
	if copied != len(r.copied) {
		return fmt.Errorf("ecs: T2: %d types have a copy function, not %d", copied, len(r.copied))
	}
	if shared != r.shared || cleanup != r.cleanup {
		return fmt.Errorf("ecs: T2: types %x are shared and %x have Cleanup, not %x and %x", shared, cleanup, r.shared, r.cleanup)
	}
	return nil
}
