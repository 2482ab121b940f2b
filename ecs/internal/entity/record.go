package entity

import "unsafe"

// Location says where an entity's row is. This package stores it and does not read it.
type Location uint32

// Record says whether an index is in use, and where its entity is.
type Record struct {
	version  uint32   // odd = alive; a promised index's is written under its block's lock
	Location Location // of the row, while the entity is alive; written by the store's owner
}

const recordSize = unsafe.Sizeof(Record{})

const _ = uint(recordSize - 8) // 8 bytes each way:
const _ = uint(8 - recordSize)
const _ = uint(8 - unsafe.Sizeof(ID{}))

// Is reports whether e is alive and r is its record. r must be a record of a [View]: other goroutines
// may be writing the records of promised indices, which Store.Find reads.
func (r *Record) Is(e ID) bool { return r.version == e.version && e.version&1 != 0 }

// View is what a look-up needs of a store: where the owner's records are, in three words. The zero
// View has no records. A View is a copy, which its users keep beside the rest of what their look-ups
// need; after MakeRoom they call Store.View for a new one.
type View struct {
	base unsafe.Pointer // of record 0
	n    uint32         // records from base on
	tag  Tag
}

// Record returns the record of an ID's index, or nil when the ID carries another tag, is a
// placeholder, or has an index that the owner's records do not reach.
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

// Address returns the address of the record of an ID's index, to prefetch it, or 0 when the View has none.
func (v *View) Address(e ID) uintptr {
	index := e.Index()
	if index >= v.n {
		return 0
	}
	return uintptr(v.base) + uintptr(index)*recordSize
}

// Len returns the number of records.
func (v *View) Len() int { return int(v.n) }
