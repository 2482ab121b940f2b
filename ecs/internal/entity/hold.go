package entity

import "fmt"

// Holds. Hold checks a list of reserved ids and marks each, so that no other goroutine can revive
// the id or take it back. Revive, TakeBack or LetGo then ends the hold, and none of them can fail.

// Hold marks reserved ids and returns -1. If an id is not currently reserved, or is in the list
// twice, Hold marks none and returns the id's index in the list. Any goroutine may call it.
func (s *Store) Hold(ids []ID) (bad int) {
	o := s.reservations.Load()
	for i, e := range ids {
		if !e.Is(s.view.tag) || o == nil || o.of(e.Index()) == nil {
			return i
		}
	}
	for rest := ids; len(rest) > 0; {
		b, n := o.run(rest)
		count, held := b.lock(s), 0
		for ; held < n && b.isReserved(rest[held]); held++ {
			word, bit := b.bit(rest[held])
			b.held[word] |= bit
		}
		o.unlock(b, count, count)
		rest = rest[held:]
		if held < n {
			bad = len(ids) - len(rest)
			s.LetGo(ids[:bad])
			return bad
		}
	}
	return -1
}

// Ways to end a hold: the version of an id's index afterwards, minus the version of the id.
const (
	reserved = ^uint32(0) // -1
	alive    = 0
	gone     = 1
)

// LetGo ends a hold; the ids stay reserved. Any goroutine may call it.
func (s *Store) LetGo(ids []ID) { s.endHold(ids, reserved) }

// Revive ends a hold and makes the ids alive. The caller has called Reach since the ids were
// reserved, and sets their locations by MoveRows. Only the store's owner calls it.
func (s *Store) Revive(ids []ID) {
	for _, e := range ids {
		if s.view.Record(e) == nil {
			panic(fmt.Sprintf("entity: Store.Revive: %v has no record, there are %d: Reach comes first", e, s.view.n))
		}
	}
	if s.past != nil {
		s.keepAll(ids)
	}
	for _, e := range ids {
		s.view.Record(e).version = e.version
	}
	s.endHold(ids, alive)
}

// TakeBack ends a hold and frees the indices; the ids will never name an entity. Any goroutine may
// call it.
func (s *Store) TakeBack(ids []ID) { s.endHold(ids, gone) }

func (s *Store) endHold(ids []ID, as uint32) {
	o := s.reservations.Load()
	for rest := ids; len(rest) > 0; {
		b, n := o.run(rest)
		count := b.lock(s)
		left := count
		for _, e := range rest[:n] {
			word, bit := b.bit(e)
			b.held[word] &^= bit
			if as == gone {
				b.used[word] &^= bit
				left--
			}
			b.versions[e.ref%blockSize] = e.version + as
		}
		o.unlock(b, count, left)
		o.free.Add(int64(count - left))
		if as == alive {
			o.alive += n
		}
		rest = rest[n:]
	}
}

// run returns the block of the first id, and how many ids from the first on are of the same block.
func (o *reservations) run(ids []ID) (b *indexBlock, n int) {
	first := ids[0].Index() / blockSize
	for n < len(ids) && ids[n].Index()/blockSize == first {
		n++
	}
	return o.of(ids[0].Index()), n
}

// bit returns the position of an id's bits in used and held.
func (b *indexBlock) bit(e ID) (word int, bit uint64) {
	i := e.ref % blockSize
	return int(i / 64), 1 << (i % 64)
}

// isReserved reports whether an id of the block is currently reserved and not held: its bit is set,
// and its version is one more than the version of its index, which is even.
func (b *indexBlock) isReserved(e ID) bool {
	word, bit := b.bit(e)
	v := b.versions[e.ref%blockSize]
	return b.used[word]&^b.held[word]&bit != 0 && v&1 == 0 && v+1 == e.version
}
