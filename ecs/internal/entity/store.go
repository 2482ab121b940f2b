package entity

import (
	"errors"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"quarry/alloc"
)

// The store. Beside its record each of the owner's indices has one bit in Go memory, set while the
// index is free. The owner leases a word of 64 free bits at a time and takes the word's indices from
// the lowest on: without atomics, and the same operations give the same ids. The lowest word with a
// free bit is leased next, so the records in use stay together.
//
// Indices that are promised to other goroutines come from separate blocks (promise.go), at the upper
// end of the index space. One count, total, keeps the two ends from meeting:
//
//	index 0                                                     2^27
//	  | owner's records, upwards ->   ...   <- blocks of promises, downwards |
//
// Versions: even = dead, odd = alive, and one is added at each change, so they wrap
// from 2^32-1 (alive) to 0 (dead), at both ends alike. Version 0 is never alive.
//
// Invariants, checked by Verify; R4 to R8 are in promise.go:
//
//	R1 An index of the owner with an even version has its bit set either in free or in
//	   the lease; with an odd version it has neither. Index 0 has neither.
//	R2 nFree is the number of bits set in free and in the lease.
//	R3 A bit of summary is set exactly where the word of free is not zero, and no word
//	   of summary below hint has a set bit.
//	R9 The view covers whole blocks of records, exactly those that the extent holds.

const (
	blockSize = 8192 // indices of a block: room is made by the block
	maxBlocks = MaxIDs / blockSize
)

// ErrFull is the error where all of the 2^27 indices are in use. Users see an ecs.LimitError.
var ErrFull = errors.New("entity: all indices are in use")

// Store hands out IDs and keeps their records. It belongs to one goroutine at a time, but for
// Promise, Hold, LetGo and TakeBack, which any may call.
type Store struct {
	u       *alloc.Universe
	view    View          // the owner's records (R9)
	records *alloc.Extent // their memory

	free      []uint64 // bit set: the index is free and not leased
	summary   []uint64 // bit set: the word of free is not zero (R3)
	hint      int      // first word of summary that may not be zero
	lease     uint64   // free indices of the leased word
	leaseBase uint32   // index of the lease's bit 0
	nFree     int      // free indices, leased ones included (R2)

	most     int32                    // blocks that both ends may have together; see Limit
	total    atomic.Int32             // blocks of both ends (R8); added to before a block is made
	promises atomic.Pointer[promises] // the upper end; nil until the first Promise
}

// Open makes a zero store ready, for a world with a tag whose memory comes from u. It takes no
// memory.
func (s *Store) Open(u *alloc.Universe, tag Tag) {
	s.u, s.view.tag, s.most = u, tag, maxBlocks
	s.records = u.NewExtent(MaxIDs * int(recordSize))
}

// Close frees all memory. Look-ups find nothing then. An error is alloc.Extent.Release's.
func (s *Store) Close() error {
	err := s.records.Release()
	s.closePromises()
	*s = Store{u: s.u, view: View{tag: s.view.tag}, records: s.records, most: s.most}
	return err
}

// View returns what look-ups need. It changes with MakeRoom and Close.
func (s *Store) View() View { return s.view }

// Tag returns the tag of the store's IDs.
func (s *Store) Tag() Tag { return s.view.tag }

// SetTag changes the tag of a store that has handed out no ID.
func (s *Store) SetTag(tag Tag) { s.view.tag = tag }

// Own returns e's record when e is alive and has an index of the owner, else nil: the common case of
// Find, small enough to be inlined.
func (s *Store) Own(e ID) *Record {
	if r := s.view.Record(e); r != nil && r.Is(e) {
		return r
	}
	return nil
}

// Find returns e's record when e is alive in this store, else nil.
func (s *Store) Find(e ID) *Record {
	if r := s.Own(e); r != nil {
		return r
	}
	return s.findPromised(e)
}

// Free returns how many indices are free for the owner.
func (s *Store) Free() int { return s.nFree }

// Blocks returns how many blocks of 8,192 indices the owner has.
func (s *Store) Blocks() int { return int(s.view.n) / blockSize }

// MakeRoom makes sure that n indices are free for the owner. An error is ErrFull or the extent's;
// nothing has changed then.
func (s *Store) MakeRoom(n int) error {
	if n <= s.nFree {
		return nil
	}
	more := (n - s.nFree + blockSize - 1) / blockSize
	if s.view.n == 0 && n-s.nFree == more*blockSize {
		more++ // index 0 is never free
	}
	if !s.count(more) {
		return ErrFull
	}
	have := s.Blocks()
	if err := s.resize(have + more); err != nil {
		s.total.Add(-int32(more))
		return err
	}
	for block := have; block < have+more; block++ {
		s.addBlock(block * blockSize)
	}
	return nil
}

// resize gives the owner's records room for a number of blocks.
func (s *Store) resize(blocks int) error {
	if err := s.records.Resize(blocks * blockSize * int(recordSize)); err != nil {
		return err
	}
	s.view.base, s.view.n = s.records.Base(), uint32(blocks*blockSize)
	return nil
}

// Limit lets the store make at most more blocks of 8,192 indices, of both ends together, so that a
// test sees what a store does near the end of its indices. A negative number removes the limit.
func (s *Store) Limit(more int) {
	s.most = maxBlocks
	if more >= 0 {
		s.most = min(s.most, s.total.Load()+int32(more))
	}
}

// count adds n blocks of either end to total, and reports false, without adding, above the limit.
func (s *Store) count(n int) bool {
	for {
		total := s.total.Load()
		if n > int(s.most-total) {
			return false
		}
		if s.total.CompareAndSwap(total, total+int32(n)) {
			return true
		}
	}
}

// addBlock makes the indices of a block free.
func (s *Store) addBlock(first int) {
	for word := first / 64; word < (first+blockSize)/64; word++ {
		s.free = append(s.free, ^uint64(0))
		if word%64 == 0 {
			s.summary = append(s.summary, 0)
		}
		s.summary[word/64] |= 1 << (word % 64)
	}
	s.nFree += blockSize
	if first == 0 {
		s.free[0] &^= 1 // index 0 is never free
		s.nFree--
	}
	s.hint = min(s.hint, first/64/64)
}

// renew leases the lowest word that has a free bit. There must be one.
func (s *Store) renew() {
	for s.summary[s.hint] == 0 {
		s.hint++
	}
	word := s.hint*64 + bits.TrailingZeros64(s.summary[s.hint])
	s.lease, s.leaseBase = s.free[word], uint32(word*64)
	s.free[word] = 0
	s.summary[word/64] &^= 1 << (word % 64)
}

// Take makes a free index alive and returns its ID; an index must be free.
func (s *Store) Take(at Location) ID {
	if s.lease == 0 {
		s.renew()
	}
	index := s.leaseBase + uint32(bits.TrailingZeros64(s.lease))
	s.lease &= s.lease - 1
	s.nFree--
	r := s.view.at(index)
	r.version++
	r.Location = at
	return ID{ref: index | uint32(s.view.tag), version: r.version}
}

// TakeRows is Take for len(ids) rows at consecutive locations from at on. It fills ids.
func (s *Store) TakeRows(at Location, ids []ID) {
	// In registers: the compiler cannot know that the records written are not the store itself.
	view, tag := s.view, uint32(s.view.tag)
	for len(ids) > 0 {
		if s.lease == 0 {
			s.renew()
		}
		lease, base, n := s.lease, s.leaseBase, 0
		if lease == ^uint64(0) && len(ids) >= 64 { // indices that nobody had, as a rule
			// Safe because the lease is of 64 indices whose records are the owner's.
			records := unsafe.Slice(view.at(base), 64)
			for n = range records {
				r := &records[n]
				r.version++
				r.Location = at + Location(n)
				ids[n] = ID{ref: (base + uint32(n)) | tag, version: r.version}
			}
			at, n, lease = at+64, 64, 0
		}
		for ; lease != 0 && n < len(ids); lease &= lease - 1 {
			index := base + uint32(bits.TrailingZeros64(lease))
			r := view.at(index)
			r.version++
			r.Location = at
			ids[n] = ID{ref: index | tag, version: r.version}
			at++
			n++
		}
		s.lease = lease
		s.nFree -= n
		ids = ids[n:]
	}
}

// Give ends an ID that is alive and frees its index. r is the ID's record.
func (s *Store) Give(e ID, r *Record) {
	index := e.Index()
	if index >= s.view.n {
		s.givePromised(index)
		return
	}
	r.version++
	word := int(index / 64)
	before := s.free[word]
	s.free[word] = before | 1<<(index%64)
	if before == 0 { // otherwise summary has the word, and hint is not above it (R3)
		s.summary[word/64] |= 1 << (word % 64)
		s.hint = min(s.hint, word/64)
	}
	s.nFree++
}

// GiveRows is Give for the IDs of rows.
func (s *Store) GiveRows(ids []ID) {
	view := s.view
	for i := 0; i < len(ids); {
		index := ids[i].Index()
		if index >= view.n {
			s.givePromised(index)
			i++
			continue
		}
		word, mask := index/64, uint64(0)
		for ; i < len(ids) && ids[i].Index()/64 == word; i++ {
			index := ids[i].Index()
			view.at(index).version++
			mask |= 1 << (index % 64)
		}
		s.free[word] |= mask
		s.summary[word/64] |= 1 << (word % 64)
		s.hint = min(s.hint, int(word/64))
		s.nFree += bits.OnesCount64(mask)
	}
}

// EndLease puts the lease's bits back into free, so that the lowest free index is taken next.
func (s *Store) EndLease() {
	if word := s.leaseBase / 64; s.lease != 0 {
		s.free[word] |= s.lease
		s.summary[word/64] |= 1 << (word % 64)
		s.hint = min(s.hint, int(word/64))
		s.lease = 0
	}
}

// Move sets the location of an ID that is alive.
func (s *Store) Move(e ID, at Location) {
	if r := s.view.Record(e); r != nil {
		r.Location = at
		return
	}
	s.promised(e).Location = at
}

// Locate returns the location of an ID that is alive.
func (s *Store) Locate(e ID) Location {
	if r := s.view.Record(e); r != nil {
		return r.Location
	}
	return s.promised(e).Location
}

// MoveRows is Move for the IDs of rows at consecutive locations from at on.
func (s *Store) MoveRows(ids []ID, at Location) {
	for i, e := range ids {
		if index := e.Index(); index < s.view.n {
			s.view.at(index).Location = at + Location(i)
			continue
		}
		s.promised(e).Location = at + Location(i)
	}
}
