package container

import (
	"hash/maphash"
	"unsafe"

	"quarry/alloc"
)

// A map is a directory of tables (extendible hashing). The first bits of a key's hash select the
// directory's word, the last 7 are the key's tag, and bits between choose the group where the
// search for the key begins. A table is one block of groups; a group is a control word and its
// slots, so that a look-up touches neighbouring lines:
//
//	group   | 8 control bytes | slot 0 | slot 1 | ... |
//	control   0..127: the slot holds a key with this tag; empty; dead (was removed, the search goes
//	          on); none (there is no such slot)
//
// A table that is full is replaced by a larger one, or, at the largest, by two, each for one value of
// the next bit of the hash. So an insert moves one table at most, and doubles the directory at most.
//
// Invariants, which Verify checks:
//
//  1. The directory's word for a hash tells the table of the hash: a table of depth d stands in the
//     2^(depth-d) words, aligned, whose first d bits are the same.
//  2. A table's counts of live and dead slots are those of its control words, and the map's count
//     is their sum.
//  3. The control byte of a live slot is the tag of its key, the key's hash belongs to the table,
//     and every group from the key's first to its own has no empty slot before its own.
//  4. No two live keys are equal.
//  5. Control bytes beyond a group's slots say none, and no others do.
//
// A key that is not equal to itself (NaN, or with a NaN inside) hashes at random, as in Go's map, so
// 3 says nothing of it but that it lies in some table.

// Map is a hash map off the heap. Make one with NewMap.
//
// Keys compare by ==, and hash by [maphash.Comparable] with a seed of the map, as in Go's map: -0
// and 0 are one key, a NaN is never found, and padding counts for nothing.
type Map[K comparable, V any] struct {
	tables
	seed maphash.Seed
}

// slot is a key and its value. The value is first: a value without a size at the end would be
// padded.
type slot[K comparable, V any] struct {
	value V
	key   K
}

// NewMap returns an empty map, which has no block yet. The error tells of a type with Go pointers.
// It panics when from is nil or an [alloc.Stack].
func NewMap[K comparable, V any](from alloc.Allocator) (*Map[K, V], error) {
	m := &Map[K, V]{}
	m.source = newSource("NewMap", from)
	if err := pointerFree[K]("NewMap"); err != nil {
		return nil, err
	}
	if err := pointerFree[V]("NewMap"); err != nil {
		return nil, err
	}
	m.seed = maphash.MakeSeed()
	m.tables.open(int(unsafe.Sizeof(slot[K, V]{})))
	return m, nil
}

// hash returns the hash of a key. Tests keep some of its bits only.
func (m *Map[K, V]) hash(key K) uint64 { return maphash.Comparable(m.seed, key) & m.kept }

// find returns the slot of a key, or nil.
func (m *Map[K, V]) find(key K, h uint64) *slot[K, V] {
	t, n := m.table(h)
	tag := lows * (h & tagBits)
	first := firstGroup(h, n)
	for g := first; ; {
		group := unsafe.Add(t, uintptr(g)*m.stride)
		// Safe because table t has n groups of stride bytes, each with its control word first, and
		// the lanes of a match are lanes of slots.
		w := *(*uint64)(group)
		for match := matches(w, tag); match != 0; match &= match - 1 {
			s := (*slot[K, V])(unsafe.Add(group, wordBytes+uintptr(lane(match))*unsafe.Sizeof(slot[K, V]{})))
			if s.key == key {
				return s
			}
		}
		if empties(w) != 0 {
			return nil
		}
		if g++; g == n {
			g = 0
		}
		if g == first {
			return nil
		}
	}
}

// At returns the address of a key's value, or nil. It is valid until the next call that adds or
// removes; the caller orders writes through it.
func (m *Map[K, V]) At(key K) *V {
	m.check("Map.At")
	if m.changes == 0 { // also tells the race detector of the reader
		return nil
	}
	if s := m.find(key, m.hash(key)); s != nil {
		return &s.value
	}
	return nil
}

// Get returns the value of a key, and whether the map has the key.
func (m *Map[K, V]) Get(key K) (value V, ok bool) {
	m.check("Map.Get")
	if m.changes == 0 {
		return value, false
	}
	if s := m.find(key, m.hash(key)); s != nil {
		return s.value, true
	}
	return value, false
}

// Has reports whether the map has a key.
func (m *Map[K, V]) Has(key K) bool {
	m.check("Map.Has")
	return m.changes != 0 && m.find(key, m.hash(key)) != nil
}

// Len returns the number of entries.
func (m *Map[K, V]) Len() int {
	m.check("Map.Len")
	return m.count
}

// Set adds a key with a value, or gives the key that is there the value. The error is the
// allocator's; the map is as before then.
func (m *Map[K, V]) Set(key K, value V) error {
	m.check("Map.Set")
	s, _, err := m.findOrAdd(key)
	if err == nil {
		s.key, s.value = key, value
	}
	return err
}

// GetOrAdd returns the address of a key's value, and whether it has added the key, with the zero
// value. The address is valid until the next call that adds or removes. The error is the
// allocator's; the map is as before then.
func (m *Map[K, V]) GetOrAdd(key K) (value *V, added bool, err error) {
	m.check("Map.GetOrAdd")
	s, added, err := m.findOrAdd(key)
	if err != nil {
		return nil, false, err
	}
	s.key = key
	if added {
		clear(unsafe.Slice(&s.value, 1))
	}
	return &s.value, added, nil
}

// findOrAdd returns the slot of a key; a slot that it has added is not set.
func (m *Map[K, V]) findOrAdd(key K) (*slot[K, V], bool, error) {
	h := m.hash(key)
	m.changes++
	if s := m.find(key, h); s != nil {
		return s, false, nil
	}
	for {
		if p := m.claim(h); p != nil {
			// Safe because claim returns a slot of the map's size, which is that of slot[K, V].
			return (*slot[K, V])(p), true, nil
		}
		if err := m.grow(h); err != nil {
			return nil, false, err
		}
	}
}

// Delete removes a key and reports whether the map had it. It keeps memory; see Trim.
func (m *Map[K, V]) Delete(key K) bool {
	m.check("Map.Delete")
	m.changes++
	h := m.hash(key)
	s := m.find(key, h)
	if s == nil {
		return false
	}
	// Safe because s is a live slot of the table of h.
	m.release(h, unsafe.Pointer(s))
	return true
}

// Clear removes all entries and frees all blocks.
func (m *Map[K, V]) Clear() {
	m.check("Map.Clear")
	m.changes++
	m.clears++
	m.drop()
}

// Close frees the map's blocks. The map cannot be used any more.
func (m *Map[K, V]) Close() {
	m.check("Map.Close")
	m.changes++
	m.drop()
	m.closed = true
}
