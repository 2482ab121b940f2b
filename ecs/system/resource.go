package system

import (
	"fmt"
	"reflect"
	"slices"
)

// Resources are Go values of which the systems have one a type: a window, a map, a random
// generator. Data that is looped over belongs into components.

type (
	resourceType = reflect.Type
	resources    map[resourceType]any
)

// SetResource makes v the resource of its type, instead of the one that there may be; nil takes
// it away.
func SetResource[T any](s *Systems, v *T) {
	s.check("SetResource")
	t := reflect.TypeFor[T]()
	if v == nil {
		delete(s.things, t)
		return
	}
	s.things[t] = v
}

// ResourceOf returns the resource of a type, or nil.
func ResourceOf[T any](s *Systems) *T {
	s.check("ResourceOf")
	v, _ := s.things[reflect.TypeFor[T]()].(*T)
	return v
}

// Resource returns the resource of a type for a system that may write it; Ambiguities knows
// from it. It panics when there is none. Cost: a look-up in a map of types; ask once, in
// Create.
func Resource[T any](s *State) *T {
	v := resourceOf[T](s, "Resource")
	s.writes = note[T](s.writes)
	return v
}

// ReadResource is Resource for a system that only reads it.
func ReadResource[T any](s *State) *T {
	v := resourceOf[T](s, "ReadResource")
	s.reads = note[T](s.reads)
	return v
}

func resourceOf[T any](s *State, op string) *T {
	s.check(op)
	v := ResourceOf[T](s.y)
	if v == nil {
		panic(fmt.Sprintf("system: %s: %s: there is no resource of type %v; SetResource comes before", op, s.name, reflect.TypeFor[T]()))
	}
	return v
}

func note[T any](list []resourceType) []resourceType {
	if t := reflect.TypeFor[T](); !slices.Contains(list, t) {
		list = append(list, t)
	}
	return list
}
