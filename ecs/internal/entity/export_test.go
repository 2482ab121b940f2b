package entity

import (
	"math/bits"
	"strings"

	"quarry/bitmask"
)

// BlockSize is the number of indices that are made at once.
const BlockSize = blockSize

// Corrupt breaks one numbered invariant of a store whose owner has block 0, has used some of the
// first word and none of the second, and whose block 1 is of reservations and has a reserved id at
// its place 0, one that is alive at place 1, and none at place 2. It returns what puts that right.
func (s *Store) Corrupt(invariant string) (restore func()) {
	if kind, _, _ := strings.Cut(invariant, " "); "R4" <= kind && kind <= "R8" {
		return s.corruptReservations(invariant)
	}
	const lent = blockSize // first index of the block of reservations
	switch invariant {
	case "R1":
		s.word |= 1 << bits.TrailingZeros64(^s.word)
		word := s.word
		return func() { s.word = word &^ (1 << 1) }
	case "R1 both":
		s.free[s.wordBase/64] |= s.word
		return func() { s.free[s.wordBase/64] = 0 }
	case "R1 lent":
		s.free[lent/64] |= 1
		return func() { s.free[lent/64] = 0 }
	case "R2":
		s.nFree++
		return func() { s.nFree-- }
	case "R3":
		s.summary[1] ^= 1
		return func() { s.summary[1] ^= 1 }
	case "R3 hint":
		s.hint = 1
		return func() { s.hint = 0 }
	case "R9":
		s.view.n -= blockSize
		return func() { s.view.n += blockSize }
	case "R9 total":
		s.total.Add(-1)
		return func() { s.total.Add(1) }
	case "R10":
		r := s.view.at(100)
		r.Location = 1
		return func() { r.Location = Nowhere }
	case "R10 lent":
		r := s.view.at(lent + 2)
		r.Location = 1
		return func() { r.Location = Nowhere }
	case "R10 other":
		r := s.view.at(lent + 1)
		r.version += 2
		return func() { r.version -= 2 }
	case "R10 early": // the record of a reserved id is that of a living one
		r := s.view.at(lent)
		r.version++
		return func() { r.version-- }
	case "R10 dead":
		r, at := s.view.at(lent+1), s.view.at(lent+1).Location
		*r = Record{version: r.version + 1}
		return func() { *r = Record{r.version - 1, at} }
	}
	return nil
}

// corruptReservations is Corrupt for the metadata of reservations.
func (s *Store) corruptReservations(invariant string) (restore func()) {
	o := s.reservations.Load()
	b := o.block[1].Load()
	switch invariant {
	case "R4":
		b.count.Add(1)
		return func() { b.count.Add(-1) }
	case "R4 busy":
		count := b.lock(s)
		return func() { b.count.Store(count) }
	case "R5":
		b.versions[2]++
		return func() { b.versions[2]-- }
	case "R5 held":
		b.held[0] |= 1
		return func() { b.held[0] &^= 1 }
	case "R6":
		o.open[0].And(^uint64(1 << 1))
		return func() { o.open[0].Or(1 << 1) }
	case "R6 owner's":
		o.open[0].Or(1)
		return func() { o.open[0].And(^uint64(1)) }
	case "R7":
		o.free.Add(1)
		return func() { o.free.Add(-1) }
	case "R7 alive":
		o.alive++
		return func() { o.alive-- }
	case "R7 indices":
		o.indices--
		return func() { o.indices++ }
	case "R8":
		s.total.Add(1)
		return func() { s.total.Add(-1) }
	case "R8 place":
		b.number++
		return func() { b.number-- }
	case "R8 own":
		s.own++
		return func() { s.own-- }
	}
	return nil
}

// HoldBlock works on a block of reservations, as another goroutine would, until release.
func (s *Store) HoldBlock(number int) (release func()) {
	o := s.reservations.Load()
	b := o.block[number].Load()
	count := b.lock(s)
	return func() { o.unlock(b, count, count) }
}

// ReservedBlocks returns how many blocks of reservations there are, and SearchStart the number of
// the one that the next search begins at.
func (s *Store) ReservedBlocks() (n int) {
	s.reservations.Load().all(func(*indexBlock) { n++ })
	return n
}
func (s *Store) SearchStart() int { return int(s.reservations.Load().hint.Load()) }

// Version returns the version of a record.
func (r *Record) Version() uint32 { return r.version }

// SetVersion writes the version of an index that is free, to meet the wrap.
func (s *Store) SetVersion(index, version uint32) {
	if o := s.reservations.Load(); o != nil && o.of(index) != nil {
		o.of(index).versions[index%blockSize] = version
		return
	}
	s.view.at(index).version = version
}

// SavedBlocks returns the number of copies of blocks of reservations that are kept for snapshots,
// and EndedBlocks that of blocks that wait to come back.
func (s *Store) SavedBlocks() (n int) {
	s.reservations.Load().all(func(b *indexBlock) { n += len(b.saved) })
	for _, b := range s.ended {
		n += len(b.saved)
	}
	return n
}
func (s *Store) EndedBlocks() int { return len(s.ended) }

// MakeRecord returns a record.
func MakeRecord(version uint32, l Location) Record { return Record{version, l} }

// Admit checks the records of a store.
func (s *Store) Admit(rows *ImageRows) error { return s.admit(rows, nil) }

// AdmitWord checks 64 records, Taken counts the rows that records led to, and Forget forgets them.
func (r *ImageRows) AdmitWord(list []Record, first int) (alive uint64, err error) {
	if r.taken == nil {
		r.Forget()
	}
	return r.admitWord(list, first)
}
func (r *ImageRows) Taken() int { return bitmask.Bits(r.taken).Count() }
func (r *ImageRows) Forget()    { r.taken = make([]uint64, (r.rows+63)/64) }
