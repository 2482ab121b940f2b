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
//	T1 A type's id is its place in the list, and byKey finds each type by its key, and nothing else.
//	T2 shared has exactly the shared types, and cleanup exactly the types with Cleanup.
//	L2 of lookup.go.

// registry holds the types of a world.
type registry struct {
	list    []*typeInfo // by typeID
	byKey   map[typeKey]typeID
	shared  signature     // the shared types
	cleanup signature     // the types registered with Cleanup
	serial  atomic.Uint64 // of the newest shared value
}

func (r *registry) open() { r.byKey = map[typeKey]typeID{} }

// verify checks T1 and T2, and L2 against the given records.
func (r *registry) verify(records entity.View) error {
	if len(r.byKey) != len(r.list) {
		return fmt.Errorf("ecs: T1: %d types are found by their keys, there are %d", len(r.byKey), len(r.list))
	}
	var shared, cleanup signature
	for i, t := range r.list {
		if id, ok := r.byKey[t.key()]; int(t.id) != i || !ok || id != t.id {
			return fmt.Errorf("ecs: T1: type %d is %s, its id is %d, and its key finds %d", i, t.name, t.id, id)
		}
		if t.shared != nil {
			shared.Add(t.id)
		}
		if t.cleanup {
			cleanup.Add(t.id)
		}
		if t.writers == 0 && !t.Shows(records) {
			return fmt.Errorf("ecs: L2: look-ups of %s do not see the world's records %+v", t.name, records)
		}
	}
	if shared != r.shared || cleanup != r.cleanup {
		return fmt.Errorf("ecs: T2: types %x are shared and %x have Cleanup, not %x and %x", shared, cleanup, r.shared, r.cleanup)
	}
	return nil
}
