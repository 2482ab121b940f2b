package entity

import "errors"

// CopyFrom makes a new store a copy of other, except for the tag: the same indices are free, in the
// same order, with the same versions and locations. No goroutine may call Reserve on other during
// the call. After an error the store is empty, as before.
func (s *Store) CopyFrom(other *Store) error {
	other.reading.Lock()
	defer other.reading.Unlock()
	total := other.total.Load()
	if int(total) > s.most {
		return ErrFull
	}
	if err := s.copyOwner(other); err != nil {
		return err
	}
	if err := s.copyReservationsOf(other.reservations.Load()); err != nil {
		return errors.Join(err, s.Close())
	}
	s.total.Store(total)
	return nil
}

// copyOwner copies the owner's part of other.
func (s *Store) copyOwner(other *Store) error {
	if err := s.resize(int(other.view.n) / blockSize); err != nil {
		return err
	}
	copy(s.all(), other.all())
	copy(s.free, other.free)
	copy(s.summary, other.summary)
	s.hint, s.word, s.wordBase, s.nFree, s.own, s.start = other.hint, other.word, other.wordBase, other.nFree,
		other.own, other.start
	return nil
}

// copyReservationsOf copies the blocks of reservations of another store.
func (s *Store) copyReservationsOf(from *reservations) error {
	var blocks []*indexBlock
	from.all(func(b *indexBlock) { blocks = append(blocks, b) })
	runs, err := s.allocBlocks(len(blocks))
	if err != nil || len(runs) == 0 {
		return err
	}
	o := s.makeReservations()
	for i, b := range blocks {
		to := s.newBlock(b.number, runs[i])
		to.count.Store(b.count.Load())
		to.next, to.used = b.next, b.used
		*to.versions = *b.versions
		o.add(to)
	}
	for i := range from.open {
		o.open[i].Store(from.open[i].Load())
	}
	o.hint.Store(from.hint.Load())
	o.free.Store(from.free.Load())
	o.indices, o.alive = from.indices, from.alive
	return nil
}
