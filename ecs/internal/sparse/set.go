package sparse

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/internal/universe"
)

// The set. Entry 0 is nobody's: its entity is one that no world makes, so a look-up by the place 0
// compares with it and finds nothing, without a test of its own.
//
// Invariants, checked by Verify:
//
//	P1 The place of the entity of each entry is that entry, and no other place is set.
//	P2 The entity of entry 0 is nobody.
//	P3 There is room for the entries, their versions and, in a set with bits, their bits; bits
//	   after the last entry are clear.

// Entry is the number of an entry, from 1; 0 is no entry.
type Entry uint32

// BlockSize is the number of entries that share a version.
const BlockSize = 64

const placeSize = unsafe.Sizeof(Entry(0))
const idSize = unsafe.Sizeof(entity.ID{})

// nobody is the entity of entry 0. It is a placeholder, which no set is asked for.
var nobody = entity.MakePlaceholder(1<<31-1, 1<<32-1)

// nothing lies at the address of values of size 0.
var nothing byte

// none is the address of values as long as there are none, or of size 0.
var none = unsafe.Pointer(&nothing) // Safe because values of size 0 are neither read nor written.

// Set has the values of one type, by entity. The zero Set must be opened.
type Set struct {
	places unsafe.Pointer // entries, by index of the entity
	most   uint32         // number of places; an entity with a greater index has no value
	last   Entry          // the last entry; 0: there is none
	ids    unsafe.Pointer // entities, by entry
	values unsafe.Pointer // values, by entry
	size   uintptr        // bytes of a value

	versions []uint32 // by block of entries: the version at which one of them was written, added or put elsewhere
	opened   uint32   // the version at which all entries were last opened for writing; 0: never
	latest   uint32   // the version of the last Mark, Open, Add or Remove
	bits     []uint64 // by entry: enabled; nil for a set without bits
	room     int      // entries that fit, entry 0 among them

	memory [3]*universe.Extent // of places, ids and values
	kept   *keeping            // their past, while snapshots are alive; else nil
	keeps  *keeping            // the same, kept for the next snapshot
}

// Open initializes a zero set of values of size bytes, with memory from u. With bits, each value
// can be enabled and disabled. It takes no memory yet.
func (s *Set) Open(u *universe.Universe, size int, bits bool) {
	*s = Set{size: uintptr(size), values: none}
	s.memory[0] = u.NewExtent(entity.MaxIDs * int(placeSize))
	s.memory[1] = u.NewExtent(entity.MaxIDs * int(idSize))
	s.memory[2] = u.NewExtent(entity.MaxIDs * max(size, 1))
	if bits {
		s.bits = []uint64{}
	}
}

// Close frees all memory. The set is then empty, and may be used again. The error is from
// universe.Extent.Release, of the first extent that was not released.
func (s *Set) Close() error {
	var first error
	for _, x := range s.memory {
		if err := x.Release(); first == nil {
			first = err
		}
	}
	fresh := Set{size: s.size, values: none, memory: s.memory, kept: s.kept, keeps: s.keeps}
	if s.bits != nil {
		fresh.bits = []uint64{}
	}
	*s = fresh
	return first
}

// Len returns the number of entries.
func (s *Set) Len() int { return int(s.last) }

// Find returns the entry of an entity, or 0. It is small enough to be inlined.
func (s *Set) Find(e entity.ID) Entry {
	if i := e.Index(); i < s.most {
		if at := s.place(i); s.ID(*at) == e {
			return *at
		}
	}
	return 0
}

// place returns the place of an index below most.
func (s *Set) place(index uint32) *Entry {
	return (*Entry)(unsafe.Add(s.places, uintptr(index)*placeSize)) // Safe because there are most places.
}

// id returns where the entity of an entry is, from 0 to last, or of one for which there is room.
func (s *Set) id(at Entry) *entity.ID {
	return (*entity.ID)(unsafe.Add(s.ids, uintptr(at)*idSize)) // Safe because there are room entries.
}

// ID returns the entity of an entry; for entry 0, the ID that no world makes.
func (s *Set) ID(at Entry) entity.ID { return *s.id(at) }

// Value returns the address of an entry's value.
func (s *Set) Value(at Entry) unsafe.Pointer {
	return unsafe.Add(s.values, uintptr(at)*s.size) // Safe because there are room values.
}

// At returns the address of an entity's value, or nil.
func (s *Set) At(e entity.ID) unsafe.Pointer {
	if at := s.Find(e); at != 0 {
		return s.Value(at)
	}
	return nil
}

// IDs returns the entities of all entries, in order, for reading.
func (s *Set) IDs() []entity.ID {
	if s.last == 0 {
		return nil
	}
	return unsafe.Slice(s.id(1), s.last) // Safe because entries 1 to last are there.
}

// Full reports whether Add of an entity needs a Reserve first.
func (s *Set) Full(e entity.ID) bool { return int(s.last)+1 >= s.room || e.Index() >= s.most }

// Add adds an entry for an entity that has none, and for which there is room. The caller writes the
// value, whose bytes are those of a former entry, or zero. In a set with bits it is enabled.
func (s *Set) Add(e entity.ID, version uint32) unsafe.Pointer {
	at := s.last + 1
	if s.kept != nil {
		s.keepNext(e)
	}
	s.last = at
	*s.place(e.Index()), *s.id(at) = at, e
	s.versions[at/BlockSize], s.latest = version, version
	if s.bits != nil {
		s.bits[at/64] |= 1 << (at % 64)
	}
	return s.Value(at)
}

// Remove removes the entry of an entity, and reports whether there was one. The last entry takes
// its number.
func (s *Set) Remove(e entity.ID, version uint32) bool {
	at := s.Find(e)
	if at == 0 {
		return false
	}
	if s.kept != nil {
		s.keepLast(at)
	}
	*s.place(e.Index()) = 0
	last := s.last
	s.last--
	s.latest = version
	if s.bits != nil {
		s.moveBit(last, at)
	}
	if at == last {
		return true
	}
	moved := s.ID(last)
	*s.id(at), *s.place(moved.Index()) = moved, at
	s.copyValue(at, last)
	s.versions[at/BlockSize] = version
	return true
}

// SetIDs makes the entries those of some entities, in order, each of which is in the list once.
// Entries that the set has keep their values and bits, whosever they become; further ones are zero
// and enabled. There is room for all.
func (s *Set) SetIDs(ids []entity.ID, version uint32) {
	for at := Entry(1); at <= s.last; at++ {
		if int(at) > len(ids) || ids[at-1] != s.ID(at) {
			*s.place(s.ID(at).Index()) = 0
		}
		if int(at) > len(ids) && s.bits != nil {
			s.bits[at/64] &^= 1 << (at % 64)
		}
	}
	for i, e := range ids {
		at := Entry(i + 1)
		if at <= s.last && s.ID(at) == e {
			continue
		}
		*s.id(at), *s.place(e.Index()) = e, at
		s.versions[at/BlockSize] = version
		if at <= s.last {
			continue
		}
		clear(unsafe.Slice((*byte)(s.Value(at)), s.size)) // Safe because there is room for the value.
		if s.bits != nil {
			s.bits[at/64] |= 1 << (at % 64)
		}
	}
	s.last, s.latest = Entry(len(ids)), version
}

// Swap exchanges the values of two entities, so each has the other's, or none if the other had
// none. There is room for the places of both.
func (s *Set) Swap(a, b entity.ID, version uint32) {
	from, to := s.Find(a), s.Find(b)
	if s.kept != nil && s.room > 0 {
		s.keepEntry(from)
		s.keepEntry(to)
		s.keepPlaceOf(a)
		s.keepPlaceOf(b)
	}
	s.assign(b, from, version)
	s.assign(a, to, version)
}

// assign gives an entry, which may be 0, to an entity.
func (s *Set) assign(e entity.ID, at Entry, version uint32) {
	if i := e.Index(); i < s.most {
		*s.place(i) = at
	}
	if at != 0 {
		*s.id(at) = e
		s.Mark(at, version)
	}
}

// copyValue copies a value. Most have 8 or 16 bytes, for which a call to copy would cost more than
// the copy.
func (s *Set) copyValue(to, from Entry) {
	a, b := s.Value(to), s.Value(from)
	switch s.size { // Safe because both entries have size bytes without Go pointers.
	case 0:
	case 8:
		*(*[8]byte)(a) = *(*[8]byte)(b)
	case 16:
		*(*[16]byte)(a) = *(*[16]byte)(b)
	default:
		copy(unsafe.Slice((*byte)(a), s.size), unsafe.Slice((*byte)(b), s.size))
	}
}

// moveBit gives an entry the bit of the last one, whose bit is cleared.
func (s *Set) moveBit(last, to Entry) {
	bit := s.bits[last/64] >> (last % 64) & 1
	s.bits[last/64] &^= 1 << (last % 64)
	if to != last {
		s.bits[to/64] = s.bits[to/64]&^(1<<(to%64)) | bit<<(to%64)
	}
}

// Enabled reports whether an entry's value is enabled; in a set without bits all are.
func (s *Set) Enabled(at Entry) bool {
	return s.bits == nil || atomic.LoadUint64(&s.bits[at/64])>>(at%64)&1 != 0
}

// Switch enables or disables an entry's value in a set with bits. Goroutines may switch different
// entries at once.
func (s *Set) Switch(at Entry, on bool) {
	if word, bit := &s.bits[at/64], uint64(1)<<(at%64); on {
		atomic.OrUint64(word, bit)
	} else {
		atomic.AndUint64(word, ^bit)
	}
}

// Mark notes that an entry is about to be written. Goroutines may mark entries at once, with one
// version. It is small enough to be inlined.
func (s *Set) Mark(at Entry, version uint32) {
	if s.kept != nil || atomic.LoadUint32(&s.versions[at/BlockSize]) != version {
		s.mark(at, version)
	}
}

func (s *Set) mark(at Entry, version uint32) {
	if s.kept != nil {
		s.keepValue(at)
	}
	if v := &s.versions[at/BlockSize]; atomic.LoadUint32(v) != version {
		atomic.StoreUint32(v, version)
		atomic.StoreUint32(&s.latest, version)
	}
}

// OpenAll notes that all entries may be written. Goroutines may open a set at once, with one
// version.
func (s *Set) OpenAll(version uint32) {
	if s.kept != nil && s.size > 0 && s.last > 0 {
		s.kept[2].BeforeWrite(s.Value(1), int(s.last)*int(s.size))
	}
	s.noteOpen(version)
}

// noteOpen is OpenAll for values that have been kept, or that nobody writes.
func (s *Set) noteOpen(version uint32) {
	if atomic.LoadUint32(&s.opened) != version {
		atomic.StoreUint32(&s.opened, version)
		atomic.StoreUint32(&s.latest, version)
	}
}

// Versions returns two versions, of which the later one is when the entry was last changed: its
// block's, and the one at which all entries were opened for writing, 0 if they never were.
func (s *Set) Versions(at Entry) (block, all uint32) {
	return atomic.LoadUint32(&s.versions[at/BlockSize]), atomic.LoadUint32(&s.opened)
}

// Latest returns the version at which the set was last changed: an entry written, added or removed.
func (s *Set) Latest() uint32 { return atomic.LoadUint32(&s.latest) }

// Verify checks P1 to P3.
func (s *Set) Verify() error {
	for _, x := range s.memory {
		if err := x.Verify(); err != nil {
			return fmt.Errorf("sparse: P3: %w", err)
		}
	}
	if s.room == 0 {
		if s.last != 0 || s.most != 0 {
			return fmt.Errorf("sparse: P3: %d entries and %d places without memory", s.last, s.most)
		}
		return nil
	}
	if s.ID(0) != nobody {
		return fmt.Errorf("sparse: P2: entry 0 is %v's", s.ID(0))
	}
	if int(s.last) >= s.room || len(s.versions)*BlockSize < s.room || s.bits != nil && len(s.bits)*64 < s.room {
		return fmt.Errorf("sparse: P3: %d entries, room for %d with entry 0, %d versions, %d words of bits",
			s.last, s.room, len(s.versions), len(s.bits))
	}
	for at := Entry(1); at <= s.last; at++ {
		if i := s.ID(at).Index(); i >= s.most || *s.place(i) != at {
			return fmt.Errorf("sparse: P1: entry %d is of %v, whose place is another, of %d", at, s.ID(at), s.most)
		}
	}
	set := 0
	for i := range s.most {
		if *s.place(i) != 0 {
			set++
		}
	}
	if set != int(s.last) {
		return fmt.Errorf("sparse: P1: %d places are set, there are %d entries", set, s.last)
	}
	for at := int(s.last) + 1; at < len(s.bits)*64; at++ {
		if s.bits[at/64]>>(at%64)&1 != 0 {
			return fmt.Errorf("sparse: P3: the bit of entry %d is set, there are %d entries", at, s.last)
		}
	}
	return nil
}
