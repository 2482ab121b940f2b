package entity

import "unsafe"

// Location says where an entity's row is. This package stores it and does not read it.
type Location uint32

// Record says whether an index is in use, and where its entity is.
type Record struct {
	version  uint32   // odd = alive; of a promised index written under its block's lock
	Location Location // of the row, while the entity is alive; written by the store's owner
}

const recordSize = unsafe.Sizeof(Record{})

const _ = uint(recordSize - 8) // 8 bytes each way:
const _ = uint(8 - recordSize)
const _ = uint(8 - unsafe.Sizeof(ID{}))

// Is reports whether the record is that of e and e is alive. It is for the records of a
// [View]; others may be written by other goroutines, see Store.Find.
func (r *Record) Is(e ID) bool { return r.version == e.version && e.version&1 != 0 }

// View is what a look-up needs of a store: a copy of where the owner's records are. The zero
// View has no records. It is three words, for those who keep it beside what else their
// look-ups need; Store.View gives a new one after the store's owner has made room.
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

// Address returns where the record of an ID's index is, to prefetch it, or 0.
func (v *View) Address(e ID) uintptr {
	index := e.Index()
	if index >= v.n {
		return 0
	}
	return uintptr(v.base) + uintptr(index)*recordSize
}

// Len returns the number of records.
func (v *View) Len() int { return int(v.n) }
