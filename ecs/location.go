package ecs

import (
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/entity"
)

// location says where an entity is: the index of its chunk's first eighth times
// 512, plus the row. A chunk of 2^k eighths begins at a multiple of 2^k, so the
// row has 9+k bits; what k is, the table of owners says for each unit of the
// chunk, and location>>12 is one of them:
//
//	bit 0          9         9+k                            32
//	    +------------+---------+-----------------------------+
//	    | row, 9+k bits        | first eighth / 2^k          |
//	    +------------+---------+-----------------------------+
type location = entity.Location

const (
	eighthBits = 9                            // of a location: rows of a small chunk
	rowBits    = eighthBits + alloc.UnitOrder // rows of a unit
)

func locate(first alloc.Eighth, row int) location {
	return location(uint32(first)<<eighthBits + uint32(row))
}

// owner says which chunk a unit belongs to, and whose that is.
type owner struct {
	archetype uint32 // index into World.archetypes, plus one; 0: none; or shelved
	at        uint32 // position in the archetype's grid 22 bits | scale of the chunk 10
}

// shelved is the archetype of a unit on the shelf: at is where World.tenants says whose
// its eighths are.
const shelved = ^uint32(0)

// tenants is the archetypes of the small chunks of a unit, by eighth, as in owner. Such
// a chunk is the first of its archetype and has one eighth, so the rest of an owner is known.
type tenants [1 << alloc.UnitOrder]uint32

func makeOwner(a *Archetype, pos int, order uint32) owner {
	return owner{a.index + 1, uint32(pos) | uint32(a.grid.Scale(order))<<posBits}
}

func (o owner) pos() int       { return int(o.at & (1<<posBits - 1)) }
func (o owner) scale() uintptr { return uintptr(o.at >> posBits) }

const (
	posBits = 22
	_       = uint(1<<(32-posBits) - 1 - 1<<alloc.MaxGridOrder) // there is room for the scale
	_       = uint(1<<posBits - 1<<(32-rowBits))                // and a position for each unit of a location
)

// ownerOf returns the table's entry for the chunk that l lies in.
func (w *World) ownerOf(l location) owner {
	o := w.owners[l>>rowBits]
	if o.archetype == shelved {
		return owner{w.tenants[o.at][l>>eighthBits%(1<<alloc.UnitOrder)], 1 << posBits}
	}
	return o
}

// archetypeAt returns the archetype of a chunk's owner.
func (w *World) archetypeAt(o owner) *Archetype {
	// Safe because the owner of a chunk names an archetype (W3): a bounds check would cost
	// every structural change of one entity three instructions.
	return *(**Archetype)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(w.archetypes)), (uintptr(o.archetype)-1)*unsafe.Sizeof(w.archetypes[0])))
}

// split returns the start of the chunk that l lies in, whose scale is given, and the row.
func (w *World) split(l location, scale uintptr) (chunk unsafe.Pointer, row int) {
	at := uintptr(l)
	in := at & (alloc.EighthsOf(scale)<<eighthBits - 1)
	// Safe because without the row l is the chunk's first eighth times 512, a
	// quarter of its offset from the universe's base.
	return unsafe.Add(w.base, (at-in)<<2), int(in)
}

// rowAt returns the row of l, whose owner is given.
func (w *World) rowAt(l location, o owner) alloc.GridRow {
	base, row := w.split(l, o.scale())
	return alloc.GridRow{Base: base, Scale: o.scale(), Row: row}
}

const _ = uint(alloc.ChunkSize - 4<<rowBits) // a unit is 4 << rowBits bytes, each way:
const _ = uint(4<<rowBits - alloc.ChunkSize)

// setOwner enters a chunk into the table and the directories, or takes it out with a
// nil archetype. Directories do not know small chunks.
func (w *World) setOwner(c alloc.GridChunk, a *Archetype, pos int) {
	if c.Small() {
		w.setTenant(c.First, a)
		return
	}
	o, first, end := owner{}, int(c.First.Chunk()), int(c.First.Chunk())+c.Units()
	if a != nil {
		o = makeOwner(a, pos, c.Order)
		w.makeOwners(end)
	}
	for unit := first; unit < end; unit++ {
		w.owners[unit] = o
	}
	for _, d := range w.built {
		d.note(c, a, pos)
	}
}

// makeOwners makes the table, and the directories, reach to a unit.
func (w *World) makeOwners(end int) {
	for len(w.owners) < end {
		w.owners = append(w.owners, owner{})
	}
	for _, t := range w.built {
		t.reach(len(w.owners))
	}
}

// setTenant enters a small chunk into the table, or takes it out.
func (w *World) setTenant(e alloc.Eighth, a *Archetype) {
	unit, i := int(e.Chunk()), e%(1<<alloc.UnitOrder)
	w.makeOwners(unit + 1)
	o := &w.owners[unit]
	if o.archetype == 0 {
		*o = owner{archetype: shelved, at: uint32(len(w.tenants))}
		if last := len(w.idleTenants) - 1; last >= 0 {
			o.at = w.idleTenants[last]
			w.idleTenants = w.idleTenants[:last]
		} else {
			w.tenants = append(w.tenants, tenants{})
		}
	}
	s := &w.tenants[o.at]
	s[i] = 0
	if a != nil {
		s[i] = a.index + 1
	}
	if *s == (tenants{}) {
		w.idleTenants = append(w.idleTenants, o.at)
		*o = owner{}
	}
}
