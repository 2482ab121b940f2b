package entity

import "sync/atomic"

// Lists of promised ids. Hold marks them, so that no other goroutine revives them or takes
// them back meanwhile; then one of Revive, TakeBack and LetGo ends the hold.

// Hold marks ids that are promised. It returns -1, or the index in ids of one that is not
// promised now, or was given before in the list; none is held then. Any goroutine may call it.
func (s *Store) Hold(ids []ID) (bad int) {
	o := s.promises.Load()
	for i, e := range ids {
		if !e.Is(s.view.tag) || o.of(e.Index()) == nil {
			return i
		}
	}
	for rest := ids; len(rest) > 0; {
		b, n := o.run(rest)
		count, held := b.lock(), 0
		for ; held < n && b.isPromised(rest[held]); held++ {
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

// What a hold ends as: how far the version of an id's record is from the id's then.
const (
	promised = ^uint32(0) // one less
	alive    = 0
	gone     = 1
)

// LetGo ends a hold: the ids stay promised.
func (s *Store) LetGo(ids []ID) { s.endHold(ids, promised) }

// Revive ends a hold: the ids are alive. Where their rows are is for MoveRows to say. Only the
// store's owner calls it.
func (s *Store) Revive(ids []ID) { s.endHold(ids, alive) }

// TakeBack ends a hold: the ids never name an entity, and their indices are free. Any
// goroutine may call it.
func (s *Store) TakeBack(ids []ID) { s.endHold(ids, gone) }

func (s *Store) endHold(ids []ID, as uint32) {
	o := s.promises.Load()
	for rest := ids; len(rest) > 0; {
		b, n := o.run(rest)
		count := b.lock()
		left := count
		for _, e := range rest[:n] {
			word, bit := b.bit(e)
			b.held[word] &^= bit
			if as == gone {
				b.used[word] &^= bit
				left--
			}
			atomic.StoreUint32(&b.records[e.ref%blockSize].version, e.version+as)
		}
		o.unlock(b, count, left)
		o.free.Add(int64(count - left))
		if as == alive {
			o.alive += n
		}
		rest = rest[n:]
	}
}

// run returns the block of the first id, and how many of the ids in turn are of it.
func (o *promises) run(ids []ID) (b *block, n int) {
	first := ids[0].Index() / blockSize
	for n < len(ids) && ids[n].Index()/blockSize == first {
		n++
	}
	return o.of(ids[0].Index()), n
}

// bit returns where an id of the block has its bits in used and held.
func (b *block) bit(e ID) (word int, bit uint64) {
	i := e.ref % blockSize
	return int(i / 64), 1 << (i % 64)
}

// isPromised reports whether an id of the block is promised now and not held: its bit is
// set, and its version is the one after the record's, which is even.
func (b *block) isPromised(e ID) bool {
	word, bit := b.bit(e)
	v := b.records[e.ref%blockSize].version
	return b.used[word]&^b.held[word]&bit != 0 && v&1 == 0 && v+1 == e.version
}
