package entity

// Become makes a new store a copy of other, except for the tag: the same indices are free, in the
// same order, with the same versions and locations. No goroutine may call Promise on other
// meanwhile. On an error the store is as empty as before, or has room that Close gives back.
func (s *Store) Become(other *Store) error {
	if blocks := other.Blocks(); blocks > 0 {
		if !s.count(blocks) {
			return ErrFull
		}
		if err := s.resize(blocks); err != nil {
			s.total.Add(-int32(blocks))
			return err
		}
		for block := range blocks {
			s.addBlock(block * blockSize)
		}
		copy(s.all(), other.all())
		copy(s.free, other.free)
		copy(s.summary, other.summary)
		s.hint, s.lease, s.leaseBase, s.nFree = other.hint, other.lease, other.leaseBase, other.nFree
	}
	from := other.promises.Load()
	if from == nil || from.n.Load() == 0 {
		return nil
	}
	o := s.makePromises()
	if err := s.makeBlocks(int(from.n.Load()) * blockSize); err != nil {
		return err
	}
	for k := range int(from.n.Load()) {
		to, b := o.block[k].Load(), from.block[k].Load()
		to.count.Store(b.count.Load())
		to.next, to.used = b.next, b.used
		*to.records = *b.records
	}
	for i := range from.open {
		o.open[i].Store(from.open[i].Load())
	}
	o.hint.Store(from.hint.Load())
	o.free.Store(from.free.Load())
	o.alive = from.alive
	return nil
}
