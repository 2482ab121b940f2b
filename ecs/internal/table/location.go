package table

import (
	"quarry/alloc"
	"quarry/ecs/internal/entity"
)

// Location says where an entity's row is. A world numbers its rows by stretches: each chunk of a
// table has the locations of as many stretches of 2,048 as its rows need, one behind another,
// whatever the chunk's address is. A small chunk has a stretch too:
//
//	bit 0         11                         32
//	    +---------+---------------------------+
//	    | row, 11 | number of the stretch, 21 |
//	    +---------+---------------------------+
//
// So what a world keeps by stretch (owners, the cells of look-ups) is as long as its rows need,
// also in a universe that others use.
type Location = entity.Location

// Nowhere is the location of no row: stretch 0 is no chunk's.
const Nowhere = entity.Nowhere

// stretchOf returns the number of a location's stretch.
func stretchOf(l Location) int { return int(l >> entity.RowBits) }

// locationOf returns the first location of a stretch.
func locationOf(stretch int) Location { return Location(stretch) << entity.RowBits }

// stretchesFor returns how many stretches some rows need.
func stretchesFor(rows int) int { return (rows + 1<<entity.RowBits - 1) >> entity.RowBits }

// The limits: each unit that a universe can have needs one stretch at most, and each small chunk,
// of which a table has one.
const _ = uint(entity.Stretches - 2*alloc.MaxSize/alloc.ChunkSize)
