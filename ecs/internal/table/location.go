package table

import (
	"quarry/ecs/internal/entity"
	"quarry/internal/universe"
)

// Location is the place of an entity's row. A world numbers its rows by stretches of 2,048. Each
// chunk of a table, even a small one, has consecutive stretches, as many as its rows need. The
// numbers do not depend on the chunk's address:
//
//	bit 0         11                         32
//	    +---------+---------------------------+
//	    | row, 11 | number of the stretch, 21 |
//	    +---------+---------------------------+
//
// So tables that a world keeps by stretch (owners, the cells of look-ups) are only as long as its
// rows need, even in a universe shared with others.
type Location = entity.Location

// Nowhere is the location of no row: no chunk has stretch 0.
const Nowhere = entity.Nowhere

// stretchOf returns the number of a location's stretch.
func stretchOf(l Location) int { return int(l >> entity.RowBits) }

// locationOf returns the first location of a stretch.
func locationOf(stretch int) Location { return Location(stretch) << entity.RowBits }

// stretchesFor returns how many stretches a number of rows needs.
func stretchesFor(rows int) int { return (rows + 1<<entity.RowBits - 1) >> entity.RowBits }

// Limits: each unit of a universe needs one stretch at most, and so does each small chunk, of which
// a table has one.
const _ = uint(entity.Stretches - 2*universe.MaxSize/universe.ChunkSize)
