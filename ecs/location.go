package ecs

import (
	"unsafe"

	"quarry/alloc"
)

// location says where an entity is: the index of its chunk's first unit times
// 4,096, plus the row. A chunk of 2^k units begins at a multiple of 2^k, so the
// row has 12+k bits; what k is, the table of owners says for each unit of the
// chunk, and location>>12 is one of them:
//
//	bit 0          12        12+k                           32
//	    +------------+---------+-----------------------------+
//	    | row, 12+k bits       | first unit / 2^k            |
//	    +------------+---------+-----------------------------+
type location uint32

const rowBits = 12

func locate(first alloc.ChunkIndex, row int) location {
	return location(uint32(first)<<rowBits + uint32(row))
}

// owner says which chunk a unit belongs to, and whose that is.
type owner struct {
	archetype uint32 // index into World.archetypes, plus one; 0: none
	at        uint32 // position in the archetype's grid 24 bits | order of the chunk 8
}

func makeOwner(a *Archetype, pos int, order uint32) owner {
	return owner{a.index + 1, uint32(pos) | order<<24}
}

func (o owner) pos() int      { return int(o.at & (1<<24 - 1)) }
func (o owner) order() uint32 { return o.at >> 24 }

// ownerOf returns the table's entry for the chunk that l lies in.
func (w *World) ownerOf(l location) owner {
	return w.owners[l>>rowBits]
}

// split returns the start of the chunk that l lies in, and the row.
func (w *World) split(l location, order uint32) (chunk unsafe.Pointer, row int) {
	rows := location(1)<<(rowBits+order&31) - 1
	// Safe because without the row l is the chunk's first unit times 4,096, a
	// quarter of its offset from the universe's base.
	return unsafe.Add(w.base, uintptr(l&^rows)<<2), int(l & rows)
}

const _ = uint(alloc.ChunkSize - 4<<rowBits) // a unit is 4 << rowBits bytes, each way:
const _ = uint(4<<rowBits - alloc.ChunkSize)

// setOwner enters a chunk into the table and the directories, or takes it out with a
// nil archetype.
func (w *World) setOwner(c alloc.GridChunk, a *Archetype, pos int) {
	o, end := owner{}, int(c.First)+1<<c.Order
	if a != nil {
		o = makeOwner(a, pos, c.Order)
		for len(w.owners) < end {
			w.owners = append(w.owners, owner{})
		}
	}
	for unit := int(c.First); unit < end; unit++ {
		w.owners[unit] = o
	}
	for _, d := range w.built {
		d.note(c, a, pos)
	}
}
