package sparse

import (
	"fmt"
	"slices"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/past"
)

// The past of a set. While snapshots of the world are alive, the places, entities and values are
// kept before they are written, and the extents do not shrink. Versions and bits lie in Go memory
// and are copied when the snapshot is taken.

// keeping is the memory of a set that snapshots keep: places, entities and values.
type keeping [3]*past.Memory

// KeepPast makes the set keep old bytes in p, the same in each call; nil ends that.
func (s *Set) KeepPast(p *past.Past) {
	if p == nil {
		s.kept = nil
		return
	}
	if s.keeps == nil {
		s.keeps = new(keeping)
		for i, x := range s.memory {
			s.keeps[i] = p.Add(x.Base(), x.Size())
		}
	}
	s.kept = s.keeps
	for i, x := range s.memory {
		s.kept[i].Resize(func() (unsafe.Pointer, int) { return x.Base(), x.Size() })
	}
}

// resize resizes one of the extents, whose bytes may move.
func (s *Set) resize(i, size int) (err error) {
	x := s.memory[i]
	if s.kept == nil {
		return x.Resize(size)
	}
	s.kept[i].Resize(func() (unsafe.Pointer, int) {
		err = x.Resize(size)
		return x.Base(), x.Size()
	})
	return err
}

// keepPlace, keepID and keepValue keep parts of an entry before it is written.
func (s *Set) keepPlace(index uint32) {
	s.kept[0].BeforeWrite(unsafe.Pointer(s.place(index)), int(placeSize)) // Safe because it is a place.
}

func (s *Set) keepID(at Entry) {
	s.kept[1].BeforeWrite(unsafe.Pointer(s.id(at)), int(idSize)) // Safe because it is an entity.
}

func (s *Set) keepValue(at Entry) {
	if s.size > 0 {
		s.kept[2].BeforeWrite(s.Value(at), int(s.size))
	}
}

// keepEntry is keepID, keepValue, and keepPlace of the entry's entity.
func (s *Set) keepEntry(at Entry) {
	s.keepID(at)
	s.keepValue(at)
	if e := s.ID(at); e != nobody && e.Index() < s.most {
		s.keepPlace(e.Index())
	}
}

// keepNext keeps the bytes that Add writes, and keepLast those that Remove writes. Both are calls,
// so that Add and Remove save no registers for them.
//
//go:noinline
func (s *Set) keepNext(e entity.ID) {
	at := s.last + 1
	s.keepPlace(e.Index())
	s.keepID(at)
	s.keepValue(at)
}

//go:noinline
func (s *Set) keepLast(at Entry) {
	s.keepEntry(at)
	s.keepEntry(s.last)
}

// KeepAll keeps all places, entities and values.
func (s *Set) KeepAll() {
	for i, x := range s.memory {
		s.kept[i].BeforeWrite(x.Base(), x.Size())
	}
}

// keepPlaceOf is keepPlace of an entity that may have no place.
func (s *Set) keepPlaceOf(e entity.ID) {
	if i := e.Index(); i < s.most {
		s.keepPlace(i)
	}
}

// Note notes the memory that the newest layer shares with the set of a type.
func (s *Set) Note(l *past.Layer, name string) {
	if s.last == 0 {
		return
	}
	l.Note(s.kept[0], s.places, int(s.most)*int(placeSize), func(at, n int) string {
		return past.Missed(fmt.Sprintf("places %d to %d of %s", at/int(placeSize), (at+n-1)/int(placeSize), name))
	})
	entries := func(size int, what string) past.Text { // numbered as users see them, from 0
		return func(at, n int) string {
			return past.Stale(fmt.Sprintf("entries %d to %d of %s: %s", at/size, (at+n-1)/size, name, what))
		}
	}
	// Safe because it is an entity.
	l.Note(s.kept[1], unsafe.Pointer(s.id(1)), len(s.IDs())*int(idSize), entries(int(idSize), "an entity"))
	if s.size > 0 {
		l.Note(s.kept[2], s.Value(1), len(s.IDs())*int(s.size), entries(int(s.size), "a value"))
	}
}

// State is the state of a set without its extents, at one moment.
type State struct {
	versions       []uint32
	bits           []uint64
	opened, latest uint32
	last           Entry
	most           uint32 // places, and entries that fit
	room           int
}

// Len returns the number of entries.
func (st *State) Len() int { return int(st.last) }

// Save copies the state.
func (s *Set) Save(to *State) {
	to.versions, to.bits = append(to.versions[:0], s.versions...), append(to.bits[:0], s.bits...)
	to.opened, to.latest, to.last, to.most, to.room = s.opened, s.latest, s.last, s.most, s.room
}

// Ready keeps all units that Restore will write. After an error nothing has changed. The extents
// are as long as they were for the state at least, since they do not shrink.
func (s *Set) Ready(l *past.Layer) error {
	for _, m := range s.kept {
		for unit := range m.Units() {
			if written, err := l.Wrote(m, unit); err != nil {
				return err
			} else if written {
				if err := m.Save(unit); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Restore brings back a state for which the set is Ready. If a value or entry differs, all entries
// are marked changed at a version.
func (s *Set) Restore(from *State, l *past.Layer, version uint32) {
	changed := s.last != from.last
	for _, m := range s.kept {
		for unit := range m.Units() {
			if l.Put(m, unit) {
				changed = true
			}
		}
	}
	s.last = from.last
	for i := range s.bits {
		old := uint64(0)
		if i < len(from.bits) {
			old = from.bits[i]
		}
		changed = changed || s.bits[i] != old
		s.bits[i] = old
	}
	if changed {
		s.noteOpen(version)
	}
}

// ReadyClear keeps all units that Clear will write. After an error nothing has changed.
func (s *Set) ReadyClear() error {
	for _, e := range s.IDs() {
		if err := s.kept[0].Save(int(e.Index()) * int(placeSize) / past.UnitSize); err != nil {
			return err
		}
	}
	return nil
}

// Clear removes all entries of a set that there was not when a state was noted, and for which it is
// ReadyClear.
func (s *Set) Clear(version uint32) {
	if s.last == 0 {
		return
	}
	for _, e := range s.IDs() {
		s.keepPlace(e.Index())
		*s.place(e.Index()) = 0
	}
	clear(s.bits)
	s.last, s.latest = 0, version
}

// OpenSnapshotView makes an empty set what another was at a moment: its entries are those of a
// layer. Any goroutine may call it; the caller ends the set by Close. The error is from the
// universe or from the layer, which is lost.
func (s *Set) OpenSnapshotView(live *Set, from *State, l *past.Layer) error {
	sizes := [3]int{int(from.most) * int(placeSize), from.room * int(idSize), from.room * int(s.size)}
	for i, size := range sizes {
		if err := s.memory[i].Resize(size); err != nil {
			return err
		}
		if err := s.copyExtent(i, size, live, l); err != nil {
			return err
		}
	}
	s.places, s.ids = s.memory[0].Base(), s.memory[1].Base()
	if s.size > 0 && from.room > 0 {
		s.values = s.memory[2].Base()
	}
	s.versions, s.bits = slices.Clone(from.versions), slices.Clone(from.bits)
	s.opened, s.latest, s.last, s.most, s.room = from.opened, from.latest, from.last, from.most, from.room
	return nil
}

// copyExtent copies the bytes of one extent.
func (s *Set) copyExtent(i, size int, live *Set, l *past.Layer) error {
	var unit [past.UnitSize]byte
	for at := 0; at < size; at += past.UnitSize {
		if err := l.Read(live.keeps[i], at/past.UnitSize, unit[:]); err != nil {
			return err
		}
		// Safe because the extent has size bytes.
		copy(unsafe.Slice((*byte)(unsafe.Add(s.memory[i].Base(), at)), size-at), unit[:])
	}
	return nil
}
