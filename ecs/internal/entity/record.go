package entity

import "unsafe"

// Location is the place of an entity's row. This package stores locations and does not interpret
// them.
type Location uint32

// Nowhere is the location of no entity. Records that are not alive have it, and so has zeroed
// memory.
const Nowhere Location = 0

// Record tracks whether an entity uses an index, and where the entity's row is. Only the store's
// owner writes records.
type Record struct {
	version  uint32   // odd = alive
	Location Location // of the row while the entity is alive, else Nowhere (R10)
}

const recordSize = unsafe.Sizeof(Record{})

const _ = uint(recordSize - 8) // exactly 8 bytes:
const _ = uint(8 - recordSize)
const _ = uint(8 - unsafe.Sizeof(ID{}))

// Is reports whether e is alive and r is its record.
func (r *Record) Is(e ID) bool { return r.version == e.version && e.version&1 != 0 }

// RecordsView is what a look-up needs of a store: the address and number of the records, and the
// tag. It takes two words; the zero value has no records. It is a copy, which users keep beside the
// other data of their look-ups. After MakeRoom and Reach they get a new one from Store.View.
type RecordsView struct {
	base unsafe.Pointer // of record 0
	n    uint32         // number of records
	tag  Tag
}

// Record returns the record of an ID's index. It returns nil if the ID has another tag, is a
// placeholder, or has an index beyond the records, which can at most be reserved.
func (v *RecordsView) Record(e ID) *Record {
	// Another tag, or the placeholder flag, leaves a bit above the index.
	index := e.ref ^ uint32(v.tag)
	if index >= v.n {
		return nil
	}
	return v.at(index)
}

// at returns the record of an index below n.
func (v *RecordsView) at(index uint32) *Record {
	// Safe because n records lie from base on (R9), and the caller's index is below n.
	return (*Record)(unsafe.Add(v.base, uintptr(index)*recordSize))
}

// Len returns the number of records.
func (v *RecordsView) Len() int { return int(v.n) }
