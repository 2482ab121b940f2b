package entity

import (
	"fmt"
	"unsafe"

	"quarry/internal/debug"
)

// Direct is what a LookupTable was at one moment: four words that a loop keeps in registers, where
// LookupTable.At loads them again for each entity. It is good until the records or the column
// addresses move, as a structural change may make them do. Only debug builds find out that they
// have. The compiler keeps structs of at most four fields and 32 bytes in registers.
type Direct struct {
	ids     scopeOfIDs
	records *records
	columns *[RowBlocks]ColumnAddress
	table   *LookupTable // for debug builds, which compare with it
}

type scopeOfIDs struct {
	tag  uint32
	last uint32 // index of the last record, which no entity uses
}

// Direct returns the table as it is now.
func (s *LookupTable) Direct() Direct {
	return Direct{scopeOfIDs{uint32(s.tag), s.last}, s.records, s.columns, s}
}

// Locate returns where the row of an entity is, or Nowhere if it is not alive or of another world.
func (d Direct) Locate(e ID) Location {
	if debug.On {
		d.check()
	}
	if d.records == nil {
		panic(zeroDirect) // not by a function: a call would keep this from being inlined
	}
	if r := d.records[min(e.ref^d.ids.tag, d.ids.last)]; r.version == e.version {
		return r.Location // Nowhere of a dead record, whatever version is asked for
	}
	return Nowhere
}

// Spot is a location, and the number of its world, which debug builds compare.
type Spot struct {
	at    Location
	world uint32
}

// Spot returns where the row of an entity is, as Locate does.
func (d Direct) Spot(e ID) Spot { return Spot{d.Locate(e), d.ids.tag} }

// At returns the address of the value of an entity, or nil if it is not alive, of another world or
// without the type.
//
//go:nocheckptr
func (d Direct) At(e ID) unsafe.Pointer {
	if debug.On {
		d.check()
	}
	if d.records == nil {
		panic(zeroDirect)
	}
	if r := d.records[min(e.ref^d.ids.tag, d.ids.last)]; r.version == e.version {
		c := &d.columns[r.Location>>RowBits]
		if at := c.base + uintptr(r.Location)*c.size; at != 0 { // as in ValueAt
			return unsafe.Add(nil, at) // Safe because ColumnAddress.ValueAt is.
		}
	}
	return nil
}

// ValueIn is ValueAt for a spot.
func (d Direct) ValueIn(s Spot) unsafe.Pointer {
	if debug.On && s.at != Nowhere && s.world != d.ids.tag {
		panic(fmt.Sprintf("ecs: Direct.At: the spot is of world %#x, the Direct of world %#x", s.world, d.ids.tag))
	}
	if debug.On && d.columns != nil {
		d.check()
	}
	return d.ValueAt(s.at)
}

// ValueAt returns the address of the value in the row at a location, or nil if there is none.
//
//go:nocheckptr
func (d Direct) ValueAt(l Location) unsafe.Pointer {
	if d.columns == nil {
		panic(zeroDirect)
	}
	c := &d.columns[l>>RowBits]
	at := c.base + uintptr(l)*c.size
	if at == 0 { // see ColumnAddress.Has: a caller that compares would find no nil
		return nil
	}
	return unsafe.Add(nil, at) // Safe because ColumnAddress.ValueAt is.
}

const zeroDirect = "ecs: Direct: it is the zero value; Directs come from Component.Direct and DirectMut"

// check panics if the records or the column addresses have moved.
func (d Direct) check() {
	if s := d.table; s != nil && (s.records != d.records || s.columns != d.columns || s.last != d.ids.last) {
		panic("ecs: Direct.Locate: a structural change, a borrow or World.Close has come after " +
			"Component.Direct; take a new Direct")
	}
}
