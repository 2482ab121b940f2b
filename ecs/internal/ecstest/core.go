package ecstest

import (
	"time"
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/world"
)

// What package door opens to no sibling.

// TypeOf returns the core of a type; nil for a zero handle.
var TypeOf = world.TypeOfHandle.(func(t ecs.Type) *world.Type)

// QueryOf returns the core of a query.
func QueryOf(q *ecs.Query) *query.Query {
	return (*query.Query)(unsafe.Pointer(q)) // Safe because a Query is its core.
}

// SetVersion sets the world's change version.
func SetVersion(w *ecs.World, v uint32) { door.World(w).Tables.Version = v }

// ShrinkSteps is World.Shrink with a budget of n steps, however long they take: by a clock that
// goes on when it is read, which Shrink does behind each step.
func ShrinkSteps(w *ecs.World, n int) (done bool) {
	read := time.Duration(0)
	return door.World(w).Shrink(time.Duration(n), func() time.Duration { read++; return read })
}

// Sweep gives up the archetypes of values that have no rows, as a change does when there are many.
func Sweep(w *ecs.World) { door.World(w).Sweep() }

// IDBlock is how many ids a block has.
const IDBlock = 8192

// MakeEntity makes one of its bits.
func MakeEntity(ref, version uint32) ecs.Entity {
	return ecs.Entity(entity.FromBits(uint64(version)<<32 | uint64(ref)))
}

// Bits returns those of an entity.
func Bits(e ecs.Entity) (ref, version uint32) { return uint32(entity.ID(e).Bits()), e.Version() }
