package sparse

import (
	"unsafe"

	"quarry/asm"
	"quarry/ecs/internal/entity"
)

// Entries of a list of entities. Places lie in the order of indices, so those of a list in any
// order are as many cold lines. They are prefetched a block ahead, with the places of the entities
// whose entries will fill gaps:
//
//	prefetched   places of block 2
//	used         places of block 1, found in the cache

// listBlock is the number of entities whose places are prefetched at once.
const listBlock = 64

// AddList adds a zero value for each entity of a list that has none, in order. There is room for
// all.
func (s *Set) AddList(list []entity.ID, version uint32) {
	first := s.last + 1
	s.prefetch(list, false)
	for len(list) > 0 {
		part := list[:min(listBlock, len(list))]
		list = list[len(part):]
		s.prefetch(list, false)
		for _, e := range part {
			if s.Find(e) == 0 {
				s.Add(e, version)
			}
		}
	}
	if n := int(s.last+1-first) * int(s.size); n > 0 {
		clear(unsafe.Slice((*byte)(s.Value(first)), n)) // Safe because these entries are there.
	}
}

// RemoveList removes the entries of a list of entities, as Remove does, in order.
func (s *Set) RemoveList(list []entity.ID, version uint32) {
	s.prefetch(list, true)
	for len(list) > 0 {
		part := list[:min(listBlock, len(list))]
		list = list[len(part):]
		s.prefetch(list, true)
		for _, e := range part {
			s.Remove(e, version)
		}
	}
}

// prefetch prefetches the places of the first entities of a list and, with moved, of the entities
// that will take the numbers of removed ones: those of the last entries, two blocks of them.
func (s *Set) prefetch(list []entity.ID, moved bool) {
	var lines [3 * listBlock]uintptr
	n := 0
	for _, e := range list[:min(listBlock, len(list))] {
		lines[n] = uintptr(s.places) + uintptr(e.Index())*placeSize // may be none: a prefetch does not fault
		n++
	}
	for at := s.last; moved && at > 0 && n < len(lines); at-- {
		lines[n] = uintptr(s.places) + uintptr(s.ID(at).Index())*placeSize
		n++
	}
	asm.Prefetch(lines[:n])
}
