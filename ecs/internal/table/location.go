package table

import (
	"quarry/ecs/internal/entity"
	"quarry/internal/universe"
)

// Location is the chunk and the row of an entity as one number. A world numbers its rows by row
// blocks of 2,048. Each chunk of a table, even a small one, has consecutive row blocks, as many as
// its rows need. The numbers do not depend on the chunk's address:
//
//	bit 0         11                            32
//	    +---------+-----------------------------+
//	    | row, 11 | number of the row block, 21 |
//	    +---------+-----------------------------+
//
// So lists that a world keeps by row block (owners, the column addresses of look-ups) are only as
// long as its rows need, even in a universe of several worlds.
type Location = entity.Location

// Nowhere is the location of no row: no chunk has row block 0.
const Nowhere = entity.Nowhere

// rowBlockOf returns the number of a location's row block.
func rowBlockOf(l Location) int { return int(l >> entity.RowBits) }

// locationOf returns the first location of a row block.
func locationOf(rowBlock int) Location { return Location(rowBlock) << entity.RowBits }

// rowBlocksFor returns how many row blocks a number of rows needs.
func rowBlocksFor(rows int) int { return (rows + 1<<entity.RowBits - 1) >> entity.RowBits }

// There are row blocks enough: each unit of a universe needs at most one, and so does each small
// chunk, of which a table has at most one.
const _ = uint(entity.RowBlocks - 2*universe.MaxSize/universe.ChunkSize)
