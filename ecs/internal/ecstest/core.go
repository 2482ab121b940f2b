package ecstest

import (
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/world"
)

// What package door opens to no sibling.

// TypeOf returns the core of a type; nil for a zero handle.
var TypeOf = world.TypeOfHandle.(func(t ecs.Type) *world.Type)

// QueryOf returns the core of a query.
func QueryOf(q *ecs.Query) *query.Query { return (*query.Query)(unsafe.Pointer(q)) } // Safe because a Query is its core.

// SetVersion sets the world's change version.
func SetVersion(w *ecs.World, v uint32) { door.World(w).Tables.Version = v }
