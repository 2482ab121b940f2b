package entity

import (
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
	if r := d.records[min(e.ref^d.ids.tag, d.ids.last)]; r.version == e.version {
		return r.Location // Nowhere of a dead record, whatever version is asked for
	}
	return Nowhere
}

// ValueAt returns the address of the value in the row at a location, or nil if there is none.
//
//go:nocheckptr
func (d Direct) ValueAt(l Location) unsafe.Pointer {
	c := &d.columns[l>>RowBits]
	return unsafe.Add(nil, c.base+uintptr(l)*c.size) // Safe because ColumnAddress.ValueAt is.
}

// check panics if the records or the column addresses have moved.
func (d Direct) check() {
	if s := d.table; s.records != d.records || s.columns != d.columns || s.last != d.ids.last {
		panic("ecs: Direct.Locate: a structural change, or a borrow, has come after Component.Direct; " +
			"take a new Direct")
	}
}
