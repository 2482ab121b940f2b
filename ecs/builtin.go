package ecs

import (
	"reflect"

	"quarry/ecs/internal/world"
)

// Prefab is the tag of entities that serve as patterns for others. Queries skip them unless a term
// names Prefab or is IncludePrefabs. Register it like any type.
type Prefab struct{}

// DisabledEntity is the tag of entities that are disabled as a whole. Queries skip them unless a
// term names DisabledEntity or is IncludeDisabled. Register it like any type.
type DisabledEntity struct{}

// CleanupEntity is the tag of entities that were destroyed and still have Cleanup types. Register
// it like any type to query it. Only World.Destroy adds it, and it ends with the last Cleanup type
// of the entity.
type CleanupEntity struct{}

// LinkedEntity is a buffer element: the buffer of an entity that heads a group lists the other
// members. World.Destroy of the head destroys the members too, unless the head already has the tag
// CleanupEntity. Buffers of members do not count. Dead members, the head itself and entities of
// other worlds are skipped. Register it by RegisterBuffer without options. For hierarchies, see
// package hierarchy.
type LinkedEntity struct{ Entity Entity }

func init() {
	world.TypeOfHandle = Type.info
	world.Declare(reflect.TypeFor[Entity](), reflect.TypeFor[DisabledEntity](), reflect.TypeFor[Prefab](),
		reflect.TypeFor[CleanupEntity](), reflect.TypeFor[LinkedEntity]())
}
