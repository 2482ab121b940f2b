package entity

import (
	"slices"
	"unsafe"

	"quarry/ecs/internal/past"
)

// The past of a store. While snapshots are alive, records are kept before they are written, and the
// blocks of promises are copied before they change.

// KeepPast makes the store keep old records in m; nil ends that.
func (s *Store) KeepPast(m *past.Memory) {
	s.past = m
	if m != nil {
		return
	}
	s.moment.Store(0)
	s.promises.Load().all(func(b *block) { b.saved, b.born = nil, 0 })
	for _, b := range s.ended {
		s.u.Free(b.run, blockChunks)
	}
	s.ended = nil
}

// Memory returns the address and the size of the records.
func (s *Store) Memory() (base unsafe.Pointer, size int) { return s.records.Base(), s.records.Size() }

// Keep has the record of an ID kept before it is written.
func (s *Store) Keep(e ID) {
	r := s.view.Record(e)
	s.past.Gate(unsafe.Pointer(r), int(recordSize)) // Safe because it is a record.
}

// KeepNext has the record kept that the next Take makes alive. An index must be free.
func (s *Store) KeepNext() {
	if s.lease == 0 {
		s.renew()
	}
	s.keepLease()
}

// keepLease has the records of the leased word kept.
func (s *Store) keepLease() {
	s.past.Gate(unsafe.Pointer(s.view.at(s.leaseBase)), 64*int(recordSize)) // Safe because a word of indices has records.
}

// keepAll is Keep for many.
func (s *Store) keepAll(ids []ID) {
	for _, e := range ids {
		s.Keep(e)
	}
}

// State is what a store knows besides its records, at one moment.
type State struct {
	free, summary    []uint64
	hint, nFree, own int
	lease            uint64
	leaseBase        uint32
	blocks           int // of records
	total            int32
	next             int32    // hint of the promises
	number           uint64   // of the layer
	promised         []*block // the blocks of promises
	indices, alive   int      // of the promises
}

// Save notes the state at the moment of a layer. No goroutine may promise ids meanwhile.
func (s *Store) Save(to *State, number uint64) {
	to.free, to.summary = append(to.free[:0], s.free...), append(to.summary[:0], s.summary...)
	to.hint, to.nFree, to.own, to.lease, to.leaseBase = s.hint, s.nFree, s.own, s.lease, s.leaseBase
	to.blocks, to.total, to.number = int(s.view.n)/blockSize, s.total.Load(), number
	o := s.promises.Load()
	to.promised = to.promised[:0]
	if o != nil {
		to.next, to.indices, to.alive = o.hint.Load(), o.indices, o.alive
		o.all(func(b *block) { to.promised = append(to.promised, b) })
	} else {
		to.next, to.indices, to.alive = 0, 0, 0
	}
	s.moment.Store(number)
}

// Records returns the number of records that there were.
func (st *State) Records() int { return st.blocks * blockSize }

// savedBlock is a block of promises as it was at the moments of layers up to a number.
type savedBlock struct {
	number     uint64
	next       int
	count      int32
	used, held [blockSize / 64]uint64
	versions   [blockSize]uint32
}

// save copies the block, which the caller has locked with a count, before it changes, if a layer
// has begun since the last copy.
func (b *block) save(s *Store, count int32) {
	number := s.moment.Load()
	if n := len(b.saved); number == 0 || b.born >= number || n > 0 && b.saved[n-1].number >= number {
		return
	}
	b.saved = append(b.saved, &savedBlock{number, b.next, count, b.used, b.held, *b.versions})
}

// Ready makes room for the records of a state that is to be restored, and has kept, for newer
// layers, all that Restore will write. After an error nothing has changed but the room.
func (s *Store) Ready(from *State, l *past.Layer) error {
	if size := from.Records() * int(recordSize); size > s.records.Size() {
		if err := s.resizeRecords(size); err != nil {
			return err
		}
	}
	for unit := range s.past.Units() {
		_, written, err := l.Old(s.past, unit)
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

// Restore brings back the state and the records of a layer for which the store is Ready. No
// goroutine may promise ids meanwhile.
func (s *Store) Restore(from *State, l *past.Layer) {
	for unit := range from.Records() * int(recordSize) / past.UnitSize {
		l.Put(s.past, unit)
	}
	_ = s.resizeRecords(from.Records() * int(recordSize)) // a smaller size, which is never refused
	s.free, s.summary = append(s.free[:0], from.free...), append(s.summary[:0], from.summary...)
	s.hint, s.nFree, s.own, s.lease, s.leaseBase = from.hint, from.nFree, from.own, from.lease, from.leaseBase
	s.view.base, s.view.n = s.records.Base(), uint32(from.Records())
	if o := s.promises.Load(); o != nil {
		s.restorePromises(o, from)
	}
	s.total.Store(from.total)
}

// restorePromises brings back the blocks of promises. Blocks that the state lacks end, and may come
// back with another state.
func (s *Store) restorePromises(o *promises, from *State) {
	o.all(func(b *block) {
		if !from.has(b) {
			b.save(s, b.count.Load())
			s.ended = append(s.ended, b)
			o.block[b.number].Store(nil)
		}
	})
	s.ended = slices.DeleteFunc(s.ended, func(b *block) bool {
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

// has reports whether a block was among the blocks of promises.
func (st *State) has(b *block) bool { return slices.Contains(st.promised, b) }

// restore brings back the block as it was at the moment of a layer.
func (b *block) restore(s *Store, number uint64) {
	at := slices.IndexFunc(b.saved, func(c *savedBlock) bool { return c.number >= number })
	if at < 0 {
		return
	}
	old := b.saved[at]
	b.save(s, b.count.Load()) // for newer layers
	b.next, b.used, b.held, *b.versions = old.next, old.used, old.held, old.versions
	b.count.Store(old.count)
}
