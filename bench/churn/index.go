package churn

import "math/bits"

// An index has the place of each id's record. The caller makes its array of entries, in the memory
// that is measured:
//
//	home(id) = the upper bits of id, for ids are random
//
//	I1 an entry with id 0 is empty; half of them are, at least
//	I2 no entry between an id's home and its entry is empty, the array being a ring
type index[V any] struct {
	entries []entry[V]
	shift   uint8
	used    int
}

// entry is 16 bytes for a V of up to 8.
type entry[V any] struct {
	id    uint64
	value V
}

// entriesFor is the length of the array for n records: a power of two.
func entriesFor(n int) int { return 1 << bits.Len(uint(2*n-1)) }

// newIndex makes an empty index over zeroed entries, as many as entriesFor returns.
func newIndex[V any](entries []entry[V]) index[V] {
	return index[V]{entries: entries, shift: uint8(64 - bits.TrailingZeros(uint(len(entries))))}
}

// at is the place of an id's entry, or of the empty entry where the id belongs.
func (x *index[V]) at(id uint64) int {
	mask := len(x.entries) - 1
	i := int(id >> x.shift)
	for x.entries[i].id != id && x.entries[i].id != 0 {
		i = (i + 1) & mask
	}
	return i
}

// find returns where the record of an id is, or nil if there is none. The pointer is good until the
// next change.
func (x *index[V]) find(id uint64) *V {
	if e := &x.entries[x.at(id)]; e.id != 0 {
		return &e.value
	}
	return nil
}

// put notes where a record is.
func (x *index[V]) put(id uint64, value V) {
	e := &x.entries[x.at(id)]
	if e.id == 0 {
		x.used++
	}
	e.id, e.value = id, value
}

// take removes an id, moves back the entries that it had displaced (I2), and returns the place of
// its record.
func (x *index[V]) take(id uint64) (value V, ok bool) {
	hole := x.at(id)
	if x.entries[hole].id == 0 {
		return value, false
	}
	value = x.entries[hole].value
	mask := len(x.entries) - 1
	for i := (hole + 1) & mask; x.entries[i].id != 0; i = (i + 1) & mask {
		home := int(x.entries[i].id >> x.shift)
		if (i-home)&mask >= (i-hole)&mask {
			x.entries[hole] = x.entries[i]
			hole = i
		}
	}
	x.entries[hole] = entry[V]{}
	x.used--
	return value, true
}
