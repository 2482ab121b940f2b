package container

import (
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"unsafe"

	"quarry/alloc"
)

// A map is a directory of tables (extendible hashing). The first bits of a key's hash select the
// directory's word, the last 7 are the key's tag, and bits between choose the group where the
// search for the key begins. A table is one block of groups, with its counts at the end. A group is
// a control word and 7 slots, so that a look-up touches neighbouring lines; fewer if slots are
// large:
//
//	group of 8-byte keys and values, 128 bytes: two lines
//	| 7 tags | passed | slot 0: value, key | ... | slot 6 | 8 unused |
//	  7 B      1 B      16 B                       16 B
//
// A tag above 127 means that the slot is free. A key that finds its group full goes to the next
// one, and leaves one of 8 bits in the byte `passed`; a search goes on only where its bit is set.
// So no slot is ever dead, and a search for a key that is not there mostly ends in the first group.
//
// A table that is full is replaced by a larger one, or, at the largest, by two, each for one value
// of the next bit of the hash. The directory is doubled ahead of need, some words with each table
// that grows (mapdirectory.go). So an insert moves one table at most, and allocates nothing on the
// Go heap.
//
// Invariants, which Verify checks:
//
//  1. A table of depth d stands in 2^(depth-d) words of the directory, aligned: those of the hashes
//     with its d first bits.
//  2. A table's count is that of its live slots and no more than its limit, and the map's count is
//     the sum of the tables'.
//  3. A key lies in the table of its hash, under its tag, and each group from its hash's first to
//     its own is marked as passed by it, but for the last.
//  4. No two keys are equal.
//  5. Control bytes of slots that a group does not have say free.
//  6. The words that were copied stand twice each in the next directory, if there is one.
//
// A key that is not equal to itself (NaN, or with a NaN inside) has another hash each time, so 3
// does not apply to it.

// Map is a hash map off the heap. Make one with NewMap.
//
// Keys compare by ==, as in Go's map: -0 and 0 are one key, of which the sign set last is kept; a
// NaN is never found, so each Set of one adds an entry, which only Clear removes; padding and blank
// fields count for nothing. The hash is [maphash.Comparable], for integers of 4 and 8 bytes an
// inlined one, with seeds of the map.
//
// Cost: a look-up mostly waits for two neighbouring lines of memory. A Set that adds moves the
// entries of one table at most, some 25 us for integers, and copies half a KiB of the directory. A
// table has 1,024 slots and 64 KiB at most; slots of more than 4 KiB stand in tables of up to 16,
// so a Set may move 16 values of many KB. A Set may also wait for what its allocator does: a page
// that is touched first, 250 us for one of 2 MiB. Reserve takes all that ahead for a map whose size
// is known, [alloc.Universe.Prefault] for a heap.
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

// NewMap returns an empty map, which has no block yet. An error means that a type has Go pointers.
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
	m.seeds = [2]uint64{rand.Uint64(), rand.Uint64() | 1<<63 | 1}
	switch reflect.TypeFor[K]().Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		m.integer = true
	}
	m.tables.open(int(unsafe.Sizeof(slot[K, V]{})))
	return m, nil
}

// hash returns the hash of a key. Tests keep some of its bits only. Look-ups, Set and move have its
// lines in place: a call costs a look-up a fifth.
func (m *Map[K, V]) hash(key K) uint64 {
	if m.integer {
		return m.hashInteger(bitsOf(&key))
	}
	return m.hashAny(key)
}

// bitsOf returns the bits of an integer key of 8 or 4 bytes.
func bitsOf[K comparable](key *K) uint64 {
	// Safe because the key has 8 or 4 bytes. The size is a constant where K is one type.
	if unsafe.Sizeof(*key) == 8 {
		return *(*uint64)(unsafe.Pointer(key))
	}
	return uint64(*(*uint32)(unsafe.Pointer(key)))
}

// hashAny returns the hash of a key of any type.
//
//go:noinline
func (m *Map[K, V]) hashAny(key K) uint64 { return maphash.Comparable(m.seed, key) & m.kept }

// hashInteger multiplies to 128 bits and folds, twice, as Go's own hash for CPUs without AES does,
// but first by a secret number. Once would save a look-up a twentieth; then one secret number in
// some hundred spreads a sequence of keys badly (TestMapHash).
func (t *tables) hashInteger(x uint64) uint64 {
	hi, lo := bits.Mul64(x^t.seeds[0], t.seeds[1])
	hi, lo = bits.Mul64(hi^lo, 0x9E3779B97F4A7C15)
	return (hi ^ lo) & t.kept
}

// strideOf, lanesOf and slot are constants and an address here, where the types are known: a
// group's stride, the lanes of its slots, and slot i of a group.
func (m *Map[K, V]) strideOf() uintptr { return strideOf(unsafe.Sizeof(slot[K, V]{})) }
func (m *Map[K, V]) lanesOf() uint64   { return lanesOf(unsafe.Sizeof(slot[K, V]{})) }
func (m *Map[K, V]) slot(group unsafe.Pointer, i int) *slot[K, V] {
	// Safe because callers name slots that the group has.
	return (*slot[K, V])(unsafe.Add(group, wordBytes+uintptr(i)*unsafe.Sizeof(slot[K, V]{})))
}

// find returns the slot of a key, or nil.
func (m *Map[K, V]) find(key K, h uint64) *slot[K, V] {
	t, n := m.table(h)
	tag := lows * (h & tagBits)
	first := firstGroup(h, n)
	for g := first; ; {
		group := unsafe.Add(t, uintptr(g)*m.strideOf())
		// Safe because table t has n groups of that stride, each with its control word first, and
		// the lanes of a match are lanes of slots.
		w := *(*uint64)(group)
		for match := matches(w, tag) & m.lanesOf(); match != 0; match &= match - 1 {
			if s := m.slot(group, lane(match)); s.key == key {
				return s
			}
		}
		if w&passed(h) == 0 {
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
// removes, Reserve or Trim; the caller orders writes through it.
func (m *Map[K, V]) At(key K) *V {
	m.check("Map.At")
	if m.changes == 0 { // also shows the reader to the race detector
		return nil
	}
	if s := m.find(key, m.hash(key)); s != nil {
		return &s.value
	}
	return nil
}

// Get returns the value of a key, and whether the map has the key.
func (m *Map[K, V]) Get(key K) (value V, ok bool) {
	if m.changes == 0 || !m.integer || m.hold.Suspect() {
		return m.getAny(key)
	}
	// This is find for the first group, in place, and every call is the last thing: a look-up of
	// fewer instructions leaves the CPU room to begin the next ones while it waits for memory.
	h := m.hashInteger(bitsOf(&key))
	t, n := m.table(h)
	group := unsafe.Add(t, uintptr(firstGroup(h, n))*m.strideOf())
	// Safe because the table has n groups, as in find.
	w := *(*uint64)(group)
	for match := matches(w, lows*(h&tagBits)) & m.lanesOf(); match != 0; match &= match - 1 {
		if s := m.slot(group, lane(match)); s.key == key {
			return s.value, true
		}
	}
	if w&passed(h) == 0 {
		return value, false
	}
	return m.getFurther(key, h)
}

// getAny is Get for a key of any type, and for a map that may be closed.
//
//go:noinline
func (m *Map[K, V]) getAny(key K) (value V, ok bool) {
	m.check("Map.Get")
	if m.changes == 0 {
		return value, false
	}
	return m.getFurther(key, m.hash(key))
}

//go:noinline
func (m *Map[K, V]) getFurther(key K, h uint64) (value V, ok bool) {
	if s := m.find(key, h); s != nil {
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
	if m.changes == 0 || !m.integer || m.hold.Suspect() {
		return m.setAny(key, value)
	}
	// This is findOrAdd for the first group, in place, as in Get.
	h := m.hashInteger(bitsOf(&key))
	m.changes++
	t, n := m.table(h)
	group := unsafe.Add(t, uintptr(firstGroup(h, n))*m.strideOf())
	// Safe because the table has n groups, as in find.
	w := *(*uint64)(group)
	for match := matches(w, lows*(h&tagBits)) & m.lanesOf(); match != 0; match &= match - 1 {
		if s := m.slot(group, lane(match)); s.key == key { // integers that are equal are the same
			s.value = value
			return nil
		}
	}
	if vacant := w & m.lanesOf(); w&passed(h) == 0 && vacant != 0 && m.class(h) != 0 {
		if md := m.meta(t, n); md.live+md.dead < md.limit {
			md.live++
			m.count++
			i := lane(vacant)
			setByte((*uint64)(group), i, h&tagBits)
			s := m.slot(group, i)
			s.key, s.value = key, value
			return nil
		}
	}
	return m.setFurther(key, value, h)
}

// setAny is Set for a key of any type, and for a map that may be closed.
//
//go:noinline
func (m *Map[K, V]) setAny(key K, value V) error {
	m.check("Map.Set")
	m.changes++
	return m.setFurther(key, value, m.hash(key))
}

//go:noinline
func (m *Map[K, V]) setFurther(key K, value V, h uint64) error {
	s, _, err := m.findOrAdd(key, h)
	if err == nil {
		s.key, s.value = key, value
	}
	return err
}

// GetOrAdd returns the address of a key's value, and whether it has added the key, with the zero
// value. The address is valid as that of At is. The error is the allocator's; the map is as before
// then.
func (m *Map[K, V]) GetOrAdd(key K) (value *V, added bool, err error) {
	m.check("Map.GetOrAdd")
	m.changes++
	s, added, err := m.findOrAdd(key, m.hash(key))
	if err != nil {
		return nil, false, err
	}
	s.key = key
	if added {
		var zero V
		s.value = zero
	}
	return &s.value, added, nil
}

// findOrAdd returns the slot of a key; a slot that it has added is not set.
func (m *Map[K, V]) findOrAdd(key K, h uint64) (*slot[K, V], bool, error) {
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

// Close frees the map's blocks. The map must not be used afterwards; a second Close does nothing,
// and so does the Close of a map whose allocator has given up the blocks.
func (m *Map[K, V]) Close() {
	if m.from == nil || m.closed {
		return
	}
	if !m.hold.Lost() {
		m.drop()
	}
	m.closed, m.changes = true, 0 // so that Get and Set look closer
}
