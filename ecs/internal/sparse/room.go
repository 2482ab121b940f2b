package sparse

import "quarry/ecs/internal/entity"

// Room for entries. The extents grow to twice their size, so that a value is moved once on average.

// leastRoom is the number of entries, entry 0 among them, for which a set first makes room.
const leastRoom = BlockSize

// Reserve makes room for n more entries, of entities with indices below most. The error is from the
// universe; then the entries are as they were, and room that was made before the refusal stays.
func (s *Set) Reserve(n int, most uint32) error {
	if need := int(s.last) + 1 + n; need > s.room {
		if err := s.makeRoom(roomFor(need, s.room)); err != nil {
			return err
		}
	}
	if most <= s.most {
		return nil
	}
	places := min(roomFor(int(most), int(s.most)), entity.MaxIDs)
	if err := s.resize(0, places*int(placeSize)); err != nil {
		return err
	}
	s.places, s.most = s.memory[0].Base(), uint32(places)
	return nil
}

// roomFor returns to what a number grows that is to be need.
func roomFor(need, now int) int {
	return (max(need, 2*now, leastRoom) + BlockSize - 1) &^ (BlockSize - 1)
}

// makeRoom changes the number of entries that fit, entry 0 among them.
func (s *Set) makeRoom(room int) error {
	if err := s.resize(1, room*int(idSize)); err != nil {
		return err
	}
	if err := s.resize(2, room*int(s.size)); err != nil {
		_ = s.resize(1, s.room*int(idSize)) // to a smaller size, which needs nothing
		s.ids = s.memory[1].Base()
		return err
	}
	s.ids = s.memory[1].Base()
	if s.size > 0 {
		s.values = s.memory[2].Base()
	}
	*s.id(0) = nobody
	s.versions = resized(s.versions, room/BlockSize)
	if s.bits != nil {
		s.bits = resized(s.bits, room/64)
	}
	s.room = room
	return nil
}

// resized returns a slice of n elements that begins as an old one does.
func resized[T any](old []T, n int) []T {
	all := make([]T, n)
	copy(all, old)
	return all
}

// Trim gives back the memory of entries that are not there, and all of a set without entries;
// places stay as long as there is an entry. What the system does not take back stays too.
func (s *Set) Trim() {
	if s.kept != nil {
		return // what snapshots have stays where it is
	}
	if s.last == 0 {
		_ = s.Close() // what is not released stays, and is used by the next Reserve
		return
	}
	if room := roomFor(int(s.last)+1, 0); room < s.room {
		_ = s.makeRoom(room)
	}
}
