package table

import (
	"quarry/alloc"
	"quarry/ecs/internal/entity"
)

// Location says where an entity is: the index of its chunk's first eighth times
// 512, plus the row. A chunk of 2^k eighths begins at a multiple of 2^k, so the
// row has 9+k bits. location>>12 is one of the chunk's units, whose Owner says what k is:
//
//	bit 0          9         9+k                            32
//	    +------------+---------+-----------------------------+
//	    | row, 9+k bits        | first eighth / 2^k          |
//	    +------------+---------+-----------------------------+
type Location = entity.Location

// Bits of a location.
const (
	eighthBits = 9                            // rows of a small chunk
	RowBits    = eighthBits + alloc.UnitOrder // rows of a unit; what is above numbers a unit
)

// Nowhere is no location: a row has a chunk behind it, of which this would be the last.
const Nowhere = ^Location(0)

// Locate returns the location of a row of the chunk whose first eighth is first.
func Locate(first alloc.Eighth, row int) Location {
	return Location(uint32(first)<<eighthBits + uint32(row))
}

const _ = uint(alloc.ChunkSize - 4<<RowBits) // a unit is 4 << RowBits bytes, each way:
const _ = uint(4<<RowBits - alloc.ChunkSize)
