package entity

import "unsafe"

// Versions that start apart. A tag has 4 bits, so of many worlds that are open at once several have
// the same one, and an ID of one is an ID of the others, if the index and the version are theirs
// too. A store that is set apart by a number has its records begin with a version of its own:
//
//	number    0      1              2                       of 1,024
//	version   0      4,194,304      8,388,608               the first entity has one more
//
// It is for debug builds: IDs then depend on how many worlds are open. Records that a store gets
// from elsewhere, a copy, a file or a difference, have the versions that they had there.

// apartBits is the base-2 logarithm of the versions between two numbers.
const apartBits = 22

// Apart sets the number by which versions of new records start apart. CopyFrom copies it, SetTag
// and Adopt set it to 0.
func (s *Store) Apart(number uint32) { s.start = number << apartBits }

// startBlocks gives the owner's new blocks, from first up to end, their first versions. Index 0 and
// the last record are nobody's.
func (s *Store) startBlocks(first, end int) {
	from := uint32(first * blockSize)
	for index := max(from, 1); index < uint32(end*blockSize)-1; index++ {
		s.view.at(index).version = s.start
	}
}

// startShown gives the record that was the last of n, before there were more, its first version, if
// it is the owner's.
func (s *Store) startShown(n uint32) {
	if n == 0 || s.view.n == n {
		return
	}
	if o := s.reservations.Load(); o != nil && o.of(n-1) != nil {
		return
	}
	if r := s.view.at(n - 1); r.version == 0 {
		if s.past != nil {
			s.past.BeforeWrite(unsafe.Pointer(r), int(recordSize)) // Safe because it is a record.
		}
		r.version = s.start
	}
}

// startReserved gives a new block of reservations its first versions.
func (s *Store) startReserved(b *indexBlock) {
	for i := range b.versions {
		if !isExcluded(uint32(b.number*blockSize + i)) {
			b.versions[i] = s.start
		}
	}
}
