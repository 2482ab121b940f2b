package world

import (
	"fmt"

	"quarry/ecs/internal/entity"
)

// The types of a world. Types are only added, in the order in which the program registers them, so
// a TypeID is valid for the life of the world.
//
// Invariants, checked by verify:
//
//	T1 A type's id is its place in the list. The built-in types come first; ByKey finds each type
//	   behind the first leastTypes by its key, and nothing else.
//	T2 Shared has exactly the shared types, Cleanup exactly the types with Cleanup, Copied exactly
//	   the managed types with CopyWith, in order.
//	L2 of lookup.go.

// leastTypes is the number of types that a world makes room for at first, and that it finds without
// a map: most worlds that come and go have few.
const leastTypes = 2 * int(BuiltIn)

func (r *typeRegistry) Open() { r.List = make([]*Type, 0, leastTypes) }

// Find returns the id of the type with the given key, and false if there is none.
func (r *typeRegistry) Find(key TypeKey) (TypeID, bool) {
	for _, t := range r.List[:min(len(r.List), leastTypes)] {
		if t.Go == key.Go && t.Kind == key.Kind {
			return t.ID, true
		}
	}
	id, ok := r.ByKey[key]
	return id, ok
}

// add appends a new type, whose id is its place.
func (r *typeRegistry) add(t *Type) {
	r.List = append(r.List, t)
	if int(t.ID) >= leastTypes {
		if r.ByKey == nil {
			r.ByKey = map[TypeKey]TypeID{}
		}
		r.ByKey[t.Key()] = t.ID
	}
	if t.Kind == KindShared {
		r.Shared.Add(t.ID)
	}
	if t.Cleanup {
		r.Cleanup.Add(t.ID)
		r.cleans = true
	}
	if t.Kind == KindSparse {
		r.Sparse = append(r.Sparse, t)
	}
	if t.Copies() {
		r.Copied = append(r.Copied, t)
	}
}

// verify checks T1 and T2, and L2 against the given records.
func (r *typeRegistry) verify(records entity.RecordsView) error {
	if len(r.ByKey) != max(0, len(r.List)-leastTypes) {
		return fmt.Errorf("ecs: T1: %d types are found by their keys, there are %d behind the first %d",
			len(r.ByKey), len(r.List)-leastTypes, leastTypes)
	}
	var shared, cleanup Signature
	copied := 0
	for i, t := range r.List {
		if id, ok := r.Find(t.Key()); int(t.ID) != i || !ok || id != t.ID {
			return fmt.Errorf("ecs: T1: type %d is %s, its id is %d, and its key finds %d", i, t.Name, t.ID, id)
		}
		if t.Kind == KindShared {
			shared.Add(t.ID)
		}
		if t.Cleanup {
			cleanup.Add(t.ID)
		}
		if t.Copies() {
			if copied == len(r.Copied) || r.Copied[copied] != t {
				return fmt.Errorf("ecs: T2: %s has a copy function and is not number %d of %d such types",
					t.Name, copied, len(r.Copied))
			}
			copied++
		}
		if t.Writers == 0 && !t.HasRecords(records) {
			return fmt.Errorf("ecs: L2: look-ups of %s do not see the world's records %+v", t.Name, records)
		}
	}
	if copied != len(r.Copied) {
		return fmt.Errorf("ecs: T2: %d types have a copy function, not %d", copied, len(r.Copied))
	}
	if shared != r.Shared || cleanup != r.Cleanup {
		return fmt.Errorf("ecs: T2: types %x are shared and %x have Cleanup, not %x and %x",
			shared, cleanup, r.Shared, r.Cleanup)
	}
	return nil
}
