package entity

import "math/bits"

// BlockSize is the number of indices that are made at once.
const BlockSize = blockSize

// Corrupt breaks one numbered invariant of a store whose owner has used some of the first word
// and none of the second, and whose first block of promises has a promised id in record 0, one
// that is alive in record 1, and none in record 2. It returns what puts that right.
func (s *Store) Corrupt(invariant string) (restore func()) {
	o := s.promises.Load()
	b := o.block[0].Load()
	switch invariant {
	case "R1":
		s.lease |= 1 << bits.TrailingZeros64(^s.lease)
		lease := s.lease
		return func() { s.lease = lease &^ (1 << 1) }
	case "R1 both":
		s.free[s.leaseBase/64] |= s.lease
		return func() { s.free[s.leaseBase/64] = 0 }
	case "R2":
		s.nFree++
		return func() { s.nFree-- }
	case "R3":
		s.summary[1] ^= 1
		return func() { s.summary[1] ^= 1 }
	case "R3 hint":
		s.hint = 1
		return func() { s.hint = 0 }
	case "R4":
		b.count.Add(1)
		return func() { b.count.Add(-1) }
	case "R4 busy":
		count := b.lock()
		return func() { b.count.Store(count) }
	case "R5":
		b.records[2].version++
		return func() { b.records[2].version-- }
	case "R5 held":
		b.held[0] |= 1
		return func() { b.held[0] &^= 1 }
	case "R6":
		o.open[0].And(^uint64(1))
		return func() { o.open[0].Or(1) }
	case "R7":
		o.free.Add(1)
		return func() { o.free.Add(-1) }
	case "R7 alive":
		o.alive++
		return func() { o.alive-- }
	case "R8":
		s.total.Add(1)
		return func() { s.total.Add(-1) }
	case "R8 place":
		b.base += blockSize
		return func() { b.base -= blockSize }
	case "R9":
		s.view.n -= blockSize
		return func() { s.view.n += blockSize }
	}
	return nil
}

// HoldBlock works on a block of promises, as another goroutine would, until release.
func (s *Store) HoldBlock(k int) (release func()) {
	o := s.promises.Load()
	b := o.block[k].Load()
	count := b.lock()
	return func() { o.unlock(b, count, count) }
}

// PromiseBlocks returns how many blocks of promises there are, and SearchStart the one that
// the next search begins at.
func (s *Store) PromiseBlocks() int { return int(s.makePromises().n.Load()) }
func (s *Store) SearchStart() int   { return int(s.makePromises().hint.Load()) }

// SetVersion writes the version of an index, to meet the wrap.
func (s *Store) SetVersion(index, version uint32) {
	if index < s.view.n {
		s.view.at(index).version = version
		return
	}
	s.promises.Load().of(index).records[index%blockSize].version = version
}
