package entity

import "unsafe"

// Location says where an entity's row is. This package stores it and does not read it.
type Location uint32

// Nowhere is no entity's location. It is that of a record that is not alive, so of memory that
// nobody has written.
const Nowhere Location = 0

// Record says whether an index is in use by an entity, and where that is. The store's owner writes
// it.
type Record struct {
	version  uint32   // odd = alive
	Location Location // of the row, while the entity is alive, else Nowhere (R10)
}

const recordSize = unsafe.Sizeof(Record{})

const _ = uint(recordSize - 8) // 8 bytes each way:
const _ = uint(8 - recordSize)
const _ = uint(8 - unsafe.Sizeof(ID{}))

// Is reports whether e is alive and r is its record.
func (r *Record) Is(e ID) bool { return r.version == e.version && e.version&1 != 0 }

// View is what a look-up needs of a store: where the records are, those of all entities that are
// alive, in three words. The zero View has no records. A View is a copy, which its users keep
// beside the rest of what their look-ups need; after MakeRoom and Reach they call Store.View for a
// new one.
type View struct {
	base unsafe.Pointer // of record 0
	n    uint32         // records from base on
	tag  Tag
}

// Record returns the record of an ID's index, or nil when the ID carries another tag, is a
// placeholder, or has an index that the records do not reach, so that it is promised at most.
func (v *View) Record(e ID) *Record {
	// Another tag, or the placeholder flag, leaves a bit above the index.
	index := e.ref ^ uint32(v.tag)
	if index >= v.n {
		return nil
	}
	return v.at(index)
}

// at returns the record of an index below n.
func (v *View) at(index uint32) *Record {
	// Safe because n records lie from base on (R9), and the caller's index is below n.
	return (*Record)(unsafe.Add(v.base, uintptr(index)*recordSize))
}

// Len returns the number of records.
func (v *View) Len() int { return int(v.n) }
