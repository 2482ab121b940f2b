package container

import (
	"iter"
	"unsafe"
)

// All returns the entries in no order. As with Go's map, entries may be added, set, removed and
// cleared meanwhile: an entry that is there during the whole loop is shown once, with the value it
// has then; one removed before its turn is not shown; of one added meanwhile nothing is promised.
// No key is shown twice.
//
// The loop keeps the keys of one table at a time on the Go heap. A loop that only reads may run
// beside others.
func (m *Map[K, V]) All() iter.Seq2[K, V] {
	m.check("Map.All")
	return func(yield func(K, V) bool) {
		m.check("Map.All")
		if m.changes == 0 {
			return
		}
		var s window[K, V]
		for at := uint64(0); ; {
			end := s.fill(m, at)
			if !s.yield(m, yield) {
				return
			}
			m.check("Map.All")
			if at = end; at == 0 { // past the last
				return
			}
		}
	}
}

// window is what a loop has of the table it is at.
type window[K comparable, V any] struct {
	keys    []K
	at      []uint32 // of the keys' slots: distances from table
	nans    []V      // values of keys that cannot be looked up, in order
	table   unsafe.Pointer
	changes uint64 // of the map when the window was filled
	clears  uint64
}

// fill takes the keys of the table of a hash, from that hash on, and returns the first hash after
// the table, 0 for none.
func (s *window[K, V]) fill(m *Map[K, V], h uint64) (end uint64) {
	s.keys, s.at, s.nans = s.keys[:0], s.at[:0], s.nans[:0]
	s.changes, s.clears = m.changes, m.clears
	if m.class(h) == 0 {
		return 0
	}
	tab, n := m.table(h)
	s.table = tab
	span := uint64(1) << (64 - m.meta(tab, n).depth)
	start := h &^ (span - 1)
	m.eachLive(tab, n, func(e *slot[K, V]) {
		nan := e.key != e.key
		// A table that was merged meanwhile begins before h; tables with a NaN are not merged.
		if start < h && (nan || m.hash(e.key) < h) {
			return
		}
		s.keys = append(s.keys, e.key)
		// Safe because the slot lies in the table.
		s.at = append(s.at, uint32(uintptr(unsafe.Pointer(e))-uintptr(tab)))
		if nan {
			s.nans = append(s.nans, e.value)
		}
	})
	return start + span
}

// yield yields the entries of the window that are still there.
func (s *window[K, V]) yield(m *Map[K, V], yield func(K, V) bool) bool {
	nans := s.nans
	for i, key := range s.keys {
		m.check("Map.All") // the loop's body may have closed the allocator, which the map does not see
		var e *slot[K, V]
		switch {
		case key != key:
			value := nans[0]
			nans = nans[1:]
			if m.clears == s.clears && !yield(key, value) {
				return false
			}
			continue
		case m.changes == s.changes:
			// Safe because the table and its slots are as they were.
			e = (*slot[K, V])(unsafe.Add(s.table, s.at[i]))
		default:
			e = m.find(key, m.hash(key))
		}
		if e != nil && !yield(e.key, e.value) {
			return false
		}
	}
	return true
}
