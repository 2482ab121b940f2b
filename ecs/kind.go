package ecs

import "quarry/ecs/internal/world"

// Kind is the way in which the values of a registered type are stored.
type Kind = world.Kind

// The kinds of registered types.
const (
	KindComponent = world.KindComponent // a column of values; a tag has size 0 and no column
	KindBuffer    = world.KindBuffer    // a dynamic buffer
	KindShared    = world.KindShared    // one value for all entities of an archetype
	KindManaged   = world.KindManaged   // values in Go memory
	KindSparse    = world.KindSparse    // values in a set beside the chunks
	KindChunk     = world.KindChunk     // one value for all entities of a chunk
)
