package entity

import (
	"errors"
	"slices"
	"unsafe"

	"quarry/ecs/internal/past"
)

// The past of a store. While snapshots are alive, records are kept before they are written, and the
// blocks of reservations are copied before they change.
//
// A goroutine that copies a block seizes it, so that no other goroutine reserves its ids meanwhile.
// The owner, where it visits all blocks, also those that have ended, holds the lock reading
// instead, and so meets no block that a reader has seized.

// KeepPast makes the store keep old records in m; nil ends that.
func (s *Store) KeepPast(m *past.Memory) {
	s.past = m
	if m != nil {
		return
	}
	s.moment.Store(0)
	s.reservations.Load().all(func(b *indexBlock) {
		count := b.seize() // goroutines may reserve ids meanwhile
		b.saved, b.born = nil, 0
		b.count.Store(count)
	})
	for _, b := range s.ended {
		s.u.Free(b.run, blockChunks)
	}
	s.ended = nil
}

// Sweep drops memory that only closed layers had: copies of blocks of reservations, and blocks that
// a restore has ended. Goroutines may reserve ids meanwhile.
func (s *Store) Sweep() {
	s.reading.Lock()
	defer s.reading.Unlock()
	p := s.past.Past()
	s.reservations.Load().all(func(b *indexBlock) {
		count := b.seize()
		b.sweep(p)
		b.count.Store(count)
	})
	s.ended = slices.DeleteFunc(s.ended, func(b *indexBlock) bool {
		b.sweep(p)
		return s.freeEnded(b)
	})
}

// sweep drops the copies that no layer has any more.
func (b *indexBlock) sweep(p *past.Past) {
	before := b.born
	b.saved = slices.DeleteFunc(b.saved, func(c *savedBlock) bool {
		goes := !p.Between(before, c.number)
		before = c.number
		return goes
	})
}

// freeEnded frees a block that has ended, if no layer has it, and reports whether it did.
func (s *Store) freeEnded(b *indexBlock) bool {
	if s.past.Past().Between(b.born, b.ended) {
		return false
	}
	s.u.Free(b.run, blockChunks)
	return true
}

// Memory returns the address and the size of the records.
func (s *Store) Memory() (base unsafe.Pointer, size int) { return s.records.Base(), s.records.Size() }

// Keep keeps the record of an ID before it is written.
func (s *Store) Keep(e ID) {
	r := s.view.Record(e)
	s.past.BeforeWrite(unsafe.Pointer(r), int(recordSize)) // Safe because it is a record.
}

// KeepNext keeps the record that the next Take makes alive. An index must be free.
func (s *Store) KeepNext() {
	if s.word == 0 {
		s.takeWord()
	}
	s.keepWord()
}

// keepWord has the records of the word at hand kept.
func (s *Store) keepWord() {
	// Safe because a word of indices has records.
	s.past.BeforeWrite(unsafe.Pointer(s.view.at(s.wordBase)), 64*int(recordSize))
}

// KeepAll keeps all records.
func (s *Store) KeepAll() {
	s.past.BeforeWrite(s.records.Base(), s.records.Size())
}

// keepAll is Keep for many.
func (s *Store) keepAll(ids []ID) {
	for _, e := range ids {
		s.Keep(e)
	}
}

// Moment is the state of a store without its records.
type Moment struct {
	free, summary    []uint64
	hint, nFree, own int
	word             uint64
	wordBase         uint32
	blocks           int // of records
	total            int32
	next             int32         // hint of the reservations
	number           uint64        // of the layer
	reserved         []*indexBlock // the blocks of reservations
	indices, alive   int           // of the reservations
}

// Save copies the state at the moment of a layer. No goroutine may reserve ids meanwhile.
func (s *Store) Save(to *Moment, number uint64) {
	to.free, to.summary = append(to.free[:0], s.free...), append(to.summary[:0], s.summary...)
	to.hint, to.nFree, to.own, to.word, to.wordBase = s.hint, s.nFree, s.own, s.word, s.wordBase
	to.blocks, to.total, to.number = int(s.view.n)/blockSize, s.total.Load(), number
	o := s.reservations.Load()
	to.reserved = to.reserved[:0]
	if o != nil {
		to.next, to.indices, to.alive = o.hint.Load(), o.indices, o.alive
		o.all(func(b *indexBlock) { to.reserved = append(to.reserved, b) })
	} else {
		to.next, to.indices, to.alive = 0, 0, 0
	}
	s.moment.Store(number)
}

// MoveTo gives the memory of an unneeded state to another, which is zero.
func (st *Moment) MoveTo(to *Moment) {
	clear(st.reserved)
	to.free, to.summary, to.reserved = st.free, st.summary, st.reserved
	*st = Moment{}
}

// Records returns the number of records at that moment.
func (st *Moment) Records() int { return st.blocks * blockSize }

// State returns the state of the store at that moment. alone is false if there were blocks of
// reservations, which State leaves out.
func (st *Moment) State() (t State, alone bool) {
	t = State{Blocks: int(st.total), Own: st.own, Records: st.blocks, Word: st.word}
	if st.word != 0 {
		t.WordBase = st.wordBase
	}
	return t, len(st.reserved) == 0
}

// savedBlock is a block of reservations as it was at the moments of layers up to a number.
type savedBlock struct {
	number     uint64
	next       int
	count      int32
	used, held [blockSize / 64]uint64
	versions   [blockSize]uint32
}

// save copies the block before it changes, if a layer has begun since the last copy. The caller has
// seized the block, whose count was count.
func (b *indexBlock) save(s *Store, count int32) {
	number := s.moment.Load()
	if n := len(b.saved); number == 0 || b.born >= number || n > 0 && b.saved[n-1].number >= number {
		return
	}
	b.saved = append(b.saved, &savedBlock{number, b.next, count, b.used, b.held, *b.versions})
}

// Ready makes room for the records of a state that is to be restored, and keeps, for newer layers,
// all bytes that Restore will write. After an error nothing has changed, except that the records
// may have moved.
func (s *Store) Ready(from *Moment, l *past.Layer) error {
	now := s.records.Size()
	if size := from.Records() * int(recordSize); size > now {
		if err := s.resizeRecords(size); err != nil {
			return err
		}
	}
	err := s.saveUnits(from, l)
	if err != nil && s.records.Size() > now {
		_ = s.resizeRecords(now) // a smaller size, which is never refused
	}
	s.view.base = s.records.Base()
	return err
}

// saveUnits keeps the units of records that Restore will write.
func (s *Store) saveUnits(from *Moment, l *past.Layer) error {
	for unit := range s.past.Units() {
		written, err := l.Wrote(s.past, unit)
		if err != nil {
			return err
		}
		if written || (unit+1)*past.UnitSize > from.Records()*int(recordSize) {
			if err := s.past.Save(unit); err != nil {
				return err
			}
		}
	}
	return nil
}

// Restore restores the state and the records of a layer, for which Ready was called. No goroutine
// may reserve ids meanwhile.
func (s *Store) Restore(from *Moment, l *past.Layer) {
	for unit := range from.Records() * int(recordSize) / past.UnitSize {
		l.Put(s.past, unit)
	}
	_ = s.resizeRecords(from.Records() * int(recordSize)) // a smaller size, which is never refused
	s.free, s.summary = append(s.free[:0], from.free...), append(s.summary[:0], from.summary...)
	s.hint, s.nFree, s.own, s.word, s.wordBase = from.hint, from.nFree, from.own, from.word, from.wordBase
	s.view.base, s.view.n = s.records.Base(), uint32(from.Records())
	if o := s.reservations.Load(); o != nil {
		s.restoreReservations(o, from)
	}
	s.total.Store(from.total)
}

// restoreReservations restores the blocks of reservations. Blocks that the state lacks end; another
// state may have them, and restores them. They can be older than the state, if it was saved after a
// restore.
func (s *Store) restoreReservations(o *reservations, from *Moment) {
	s.reading.Lock()
	defer s.reading.Unlock()
	o.all(func(b *indexBlock) {
		if !from.has(b) {
			b.save(s, b.count.Load())
			o.block[b.number].Store(nil)
			if b.ended = s.moment.Load(); !s.freeEnded(b) {
				s.ended = append(s.ended, b)
			}
		}
	})
	s.ended = slices.DeleteFunc(s.ended, func(b *indexBlock) bool {
		back := from.has(b)
		if back {
			o.block[b.number].Store(b)
		}
		return back
	})
	end, free := int32(0), int64(0)
	for i := range o.open {
		o.open[i].Store(0)
	}
	for number := range o.block {
		b := o.block[number].Load()
		if b == nil {
			continue
		}
		b.restore(s, from.number)
		end = int32(number + 1)
		if count := b.count.Load(); count < blockSize {
			free += int64(blockSize - count)
			o.open[number/64].Or(1 << (number % 64))
		}
	}
	o.end.Store(end)
	o.hint.Store(from.next)
	o.free.Store(free)
	o.indices, o.alive = from.indices, from.alive
}

// has reports whether a block was among the blocks of reservations, which are sorted by number.
func (st *Moment) has(b *indexBlock) bool {
	at, ok := slices.BinarySearchFunc(st.reserved, b.number,
		func(b *indexBlock, number int) int { return b.number - number })
	return ok && st.reserved[at] == b
}

// restore restores the block as it was at the moment of a layer.
func (b *indexBlock) restore(s *Store, number uint64) {
	at := slices.IndexFunc(b.saved, func(c *savedBlock) bool { return c.number >= number })
	if at < 0 {
		return
	}
	old := b.saved[at]
	b.save(s, b.count.Load()) // for newer layers
	b.next, b.used, b.held, *b.versions = old.next, old.used, old.held, old.versions
	b.count.Store(old.count)
}

// OpenSnapshotView makes of an opened store without ids a copy of another at the moment of a layer,
// with the records of the layer. CloseSnapshotView ends it. Any goroutine may call it, and others
// may ask for the tag meanwhile, which is the other's already. The error is from the universe, or
// from a layer that is lost; the store is then empty.
func (s *Store) OpenSnapshotView(live *Store, records *past.Memory, from *Moment, l *past.Layer) error {
	s.u, s.most, s.start = live.u, maxBlocks, live.start
	s.records = s.u.NewExtent(MaxIDs * int(recordSize))
	if err := s.records.Resize(from.Records() * int(recordSize)); err != nil {
		return err
	}
	s.view.base, s.view.n = s.records.Base(), uint32(from.Records())
	for unit := range from.Records() * int(recordSize) / past.UnitSize {
		// Safe because the records have so many units.
		dst := unsafe.Slice((*byte)(unsafe.Add(s.view.base, unit*past.UnitSize)), past.UnitSize)
		if err := l.Read(records, unit, dst); err != nil {
			return errors.Join(err, s.CloseSnapshotView())
		}
	}
	s.free, s.summary = slices.Clone(from.free), slices.Clone(from.summary)
	s.hint, s.nFree, s.own, s.word, s.wordBase = from.hint, from.nFree, from.own, from.word, from.wordBase
	s.total.Store(from.total)
	if len(from.reserved) > 0 {
		s.copyReservations(live, from)
	}
	return nil
}

// copyReservations copies the blocks of reservations of a state, to Go memory.
func (s *Store) copyReservations(live *Store, from *Moment) {
	o := s.makeReservations()
	for _, b := range from.reserved {
		c := &indexBlock{number: b.number, versions: new([blockSize]uint32)}
		b.copyAt(live, from.number, c)
		o.add(c)
		if c.count.Load() == blockSize {
			o.open[c.number/64].And(^(uint64(1) << (c.number % 64)))
		}
	}
	o.hint.Store(from.next)
	o.indices, o.alive = from.indices, from.alive
}

// copyAt copies the block as it was at the moment of a layer. Any goroutine may call it.
func (b *indexBlock) copyAt(live *Store, number uint64, c *indexBlock) {
	live.reading.RLock()
	defer live.reading.RUnlock()
	count := b.seize()
	if at := slices.IndexFunc(b.saved, func(c *savedBlock) bool { return c.number >= number }); at >= 0 {
		old := b.saved[at]
		c.next, c.used, c.held, *c.versions = old.next, old.used, old.held, old.versions
		c.count.Store(old.count)
	} else {
		c.next, c.used, c.held, *c.versions = b.next, b.used, b.held, *b.versions
		c.count.Store(count)
	}
	b.count.Store(count)
}

// CloseSnapshotView frees what OpenSnapshotView made.
func (s *Store) CloseSnapshotView() error {
	err := s.records.Release()
	s.view.base, s.view.n = nil, 0
	return err
}
