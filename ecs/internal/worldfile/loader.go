package worldfile

import (
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
	"quarry/internal/universe"
)

// What is known while a world is made from a file; load.go makes it.

// imageLoader makes a world of an image.
type imageLoader struct {
	f          *File
	w          *world.World
	im         WorldImage
	matches    []imageMatch    // what becomes of the types, by number in the file
	types      []*world.Type   // of the world, by number in the file; nil: entities lose it, or nobody needs it
	values     []*value.Shared // nil: of a type that entities lose
	tables     []loadedTable
	claims     *table.Claims
	first      universe.ChunkIndex // of the rows
	taken      bool                // the rows are there
	handedOver bool                // and belong to archetypes, or are free
}

// loadedTable is an archetype that is being made.
type loadedTable struct {
	a      *world.Archetype
	im     *table.Image
	slots  []uint16      // of the archetype, by slot in the file
	source *table.Source // of the rows, whose types have changed; nil: they lie as they are
}
