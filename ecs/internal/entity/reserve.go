package entity

import (
	"math/bits"
	"runtime"
	"sync/atomic"
	"unsafe"

	"quarry/internal/debug"
	"quarry/internal/universe"
)

// Reserved ids.
//
// A block of reservations has what goroutines other than the owner need: a version for each index,
// a bitmap of the indices in use, and the number of those. The count also serves as the block's
// lock: it is 0..8,192, or busy while a goroutine reads or writes the bitmap and the versions.
//
//	count     5 --CAS--> busy: take bits 5 and 6, reserve ids --> 7
//	used      ...0001_1111                                ...0111_1111
//	versions  0, 4, ..         (not written)              ids 5v1, 6v5
//
// Locations, and everything that look-ups read, are in the owner's records only, at the same
// indices. No other goroutine touches those. The owner writes the record of a reserved index when
// the entity becomes alive and when it ends.
//
// Reserve first claims a number of indices from free, and only then searches for clear bits. After
// a claim the search is certain to find that many bits, however long other goroutines keep blocks
// busy. A claim fails only if too few indices are free and no block can be made, never because
// blocks are busy, and a failed claim changes nothing. So there is nothing to roll back. The search
// skips busy blocks. It begins where the last search ended, both in the metadata and in the block,
// so an index that was given back is reserved again only after all others.
//
// A reserved index has its bit set and an even version v; the reserved id has version v+1. Revive
// writes v+1. TakeBack writes v+2, so the reserved id can come again only after versions have
// wrapped. The excluded indices of a block have their bits set and are held forever.
//
// Revive and TakeBack take a list that Hold has checked and marked, so two goroutines cannot use
// the same id. They cannot fail: Reach, which can, has been called before Revive.
//
// Invariants, checked by Verify, which no call may overlap:
//
//	R4 A block's count is the number of bits set in used, and never busy.
//	R5 An index whose bit is clear has an even version. If the bit is set, an odd version is a
//	   live entity and an even one is reserved. Only excluded indices have their held bit set.
//	R6 A bit of open is set exactly for a block of reservations whose count is less than 8,192.
//	R7 free is the number of clear bits of all blocks, alive the number of odd versions,
//	   indices the number of all indices that are not excluded.

// busy is the count of a block while a goroutine has it locked.
const busy = -1

// usable is the number of indices of a block that may be reserved; one less in the block with index
// 0.
const usable = blockSize - 1

// isExcluded reports whether an index of a block of reservations is excluded.
func isExcluded(index uint32) bool { return index == 0 || index%blockSize == usable }

const blockChunks = blockSize * int(unsafe.Sizeof(uint32(0))) / universe.ChunkSize

// reservations are the metadata of the blocks of reservations, by number.
type reservations struct {
	end     atomic.Int32                          // above the numbers of all blocks; written while Store.making is held
	hint    atomic.Int32                          // number of the block where the next search begins
	free    atomic.Int64                          // clear bits that no call has claimed (R7)
	alive   int                                   // live entities in the blocks; only the owner writes it
	indices int                                   // not excluded, of all blocks; written while Store.making is held
	open    [maxBlocks / 64]atomic.Uint64         // bit set: the block is not full (R6)
	block   [maxBlocks]atomic.Pointer[indexBlock] // nil: a block of the owner, or not made
}

// indexBlock is 8,192 indices for reservations. The goroutine that has made the count busy writes
// all other fields.
type indexBlock struct {
	count    atomic.Int32        // bits set in used, or busy (R4)
	number   int                 // the block has the indices starting with number * 8,192
	next     int                 // index in the block where the next search begins
	run      universe.ChunkIndex // chunks of the versions
	versions *[blockSize]uint32  // outside the garbage collector's heap
	used     [blockSize / 64]uint64
	held     [blockSize / 64]uint64 // bit set: a call of Hold has marked the id
	born     uint64                 // number of the snapshot taken last when the block was made
	ended    uint64                 // the same when a restore ended it
	saved    []*savedBlock          // as it was for snapshots, by rising number
}

// of returns the block of reservations that contains an index, or nil.
func (o *reservations) of(index uint32) *indexBlock { return o.block[index/blockSize%maxBlocks].Load() }

// Reserve fills ids with reserved IDs. Each differs from all other IDs of the store, and is not
// alive before Revive. Either all are reserved, or the error is ErrFull or from the universe. Any
// goroutine may call it.
func (s *Store) Reserve(ids []ID) error {
	if len(ids) == 0 {
		return nil
	}
	o, err := s.claim(len(ids))
	if err != nil {
		return err
	}
	o.fill(s, ids)
	return nil
}

// claim claims n free indices without choosing them. After an error nothing has changed.
func (s *Store) claim(n int) (*reservations, error) {
	for {
		if o := s.reservations.Load(); o != nil {
			free := o.free.Load()
			window()
			if free >= int64(n) {
				if o.free.CompareAndSwap(free, free-int64(n)) {
					return o, nil
				}
				continue
			}
		}
		if err := s.makeBlocks(n); err != nil {
			return nil, err
		}
	}
}

// makeBlocks makes blocks until n indices are free for reservations. After an error it has made
// none.
func (s *Store) makeBlocks(n int) error {
	s.making.Lock()
	defer s.making.Unlock()
	o := s.makeReservations()
	free := int(o.free.Load())
	if free >= n {
		return nil
	}
	first := int(s.total.Load())
	end := first + (n-free+usable-1)/usable
	if first == 0 && n-free == end*usable {
		end++ // index 0 is excluded
	}
	if end > s.most {
		return ErrFull
	}
	runs, err := s.allocBlocks(end - first)
	if err != nil {
		return err
	}
	s.total.Store(int32(end)) // first: a goroutine that gets an index may call Reach at once
	for i, run := range runs {
		b := s.newBlock(first+i, run)
		if s.start != 0 {
			s.startReserved(b)
		}
		o.add(b)
	}
	return nil
}

// makeReservations returns the metadata of reserved ids. The first call makes it, with making held.
func (s *Store) makeReservations() *reservations {
	if s.reservations.Load() == nil {
		s.reservations.Store(new(reservations))
	}
	return s.reservations.Load()
}

// allocBlocks returns memory for the versions of n blocks. The error is from the universe; then
// nothing is allocated.
func (s *Store) allocBlocks(n int) (runs []universe.ChunkIndex, err error) {
	for range n {
		first, err := s.u.AllocExact(blockChunks)
		if err != nil {
			for _, run := range runs {
				s.u.Free(run, blockChunks)
			}
			return nil, err
		}
		runs = append(runs, first)
	}
	return runs, nil
}

// newBlock returns a block whose versions lie in a run of chunks.
func (s *Store) newBlock(number int, run universe.ChunkIndex) *indexBlock {
	// Safe because the run is blockChunks chunks long, exactly one block, and is the store's until
	// it closes.
	b := &indexBlock{number: number, run: run, born: s.moment.Load(), versions: (*[blockSize]uint32)(s.u.Pointer(run))}
	clear(b.versions[:])
	for i := range b.used {
		for bit := range 64 {
			if isExcluded(uint32(number*blockSize + i*64 + bit)) {
				b.used[i] |= 1 << bit
				b.count.Add(1)
			}
		}
	}
	b.held = b.used
	return b
}

// add enters a block without reserved indices. making is held.
func (o *reservations) add(b *indexBlock) {
	n := blockSize - int(b.count.Load())
	o.indices += n
	o.block[b.number].Store(b)
	o.end.Store(int32(b.number + 1))
	o.open[b.number/64].Or(1 << (b.number % 64))
	o.free.Add(int64(n))
}

// fill chooses the ids that were claimed.
func (o *reservations) fill(s *Store, ids []ID) {
	for {
		ids = ids[o.pass(s, ids):]
		if len(ids) == 0 {
			return
		}
		runtime.Gosched() // blocks are busy, or bits were cleared that the search had passed
	}
}

// pass visits each block that is not full once, starting at the hint, and returns the number of ids
// that it reserved.
func (o *reservations) pass(s *Store, ids []ID) (got int) {
	end, from := int(o.end.Load()), int(o.hint.Load())
	words := (end + 63) / 64
	for i := range words + 1 { // the first word twice: from the hint on, then all of it
		word := (from/64 + i) % words
		open := o.open[word].Load()
		if i == 0 {
			open &= ^uint64(0) << (from % 64)
		}
		for ; open != 0 && got < len(ids); open &= open - 1 {
			number := word*64 + bits.TrailingZeros64(open)
			taken, whole := o.take(s, o.block[number].Load(), ids[got:])
			got += taken
			switch {
			case whole:
				o.hint.Store(int32((number + 1) % end))
			case taken > 0:
				o.hint.Store(int32(number))
			}
		}
		if got == len(ids) {
			break
		}
	}
	return got
}

// take reserves ids of a block, starting where the block's last search ended, until ids is full or
// the search reaches the end of the block, which whole reports. If the block is busy, take reserves
// none.
func (o *reservations) take(s *Store, b *indexBlock, ids []ID) (got int, whole bool) {
	count := b.count.Load()
	if count == busy || count == blockSize || !b.count.CompareAndSwap(count, busy) {
		return 0, false
	}
	window()
	b.save(s, count)
	at, base := b.next, uint32(b.number*blockSize)
	for got < len(ids) && at < blockSize {
		word := at / 64
		free := ^b.used[word] >> (at % 64) << (at % 64)
		if free == 0 {
			at = (word + 1) * 64
			continue
		}
		at = word*64 + bits.TrailingZeros64(free)
		b.used[word] |= 1 << (at % 64)
		ids[got] = Make(base+uint32(at), s.view.tag, b.versions[at]+1)
		got++
		at++
	}
	b.next = at % blockSize
	o.unlock(b, count, count+int32(got))
	return got, at >= blockSize
}

// lock is seize for a caller that is about to change the block.
func (b *indexBlock) lock(s *Store) int32 {
	count := b.seize()
	b.save(s, count)
	return count
}

// seize waits until the count is not busy, makes it busy, and returns the former count.
func (b *indexBlock) seize() int32 {
	for {
		if count := b.count.Load(); count != busy && b.count.CompareAndSwap(count, busy) {
			window()
			return count
		}
		runtime.Gosched()
	}
}

// unlock unlocks a block and sets its count to after; before is what lock returned.
func (o *reservations) unlock(b *indexBlock, before, after int32) {
	if bit := uint64(1) << (b.number % 64); after == blockSize {
		o.open[b.number/64].And(^bit)
	} else if before == blockSize {
		o.open[b.number/64].Or(bit)
	}
	window()
	if !b.count.CompareAndSwap(busy, after) {
		panic("entity: Store.Reserve: a block was unlocked by a goroutine that did not lock it")
	}
}

// giveReserved frees the indices of IDs that were alive, all in one block. The caller has written
// their records.
func (s *Store) giveReserved(ids []ID) {
	s.endHold(ids, gone)
	s.reservations.Load().alive -= len(ids)
}

// Reserved returns the number of ids that are reserved and neither revived nor taken back,
// including ids claimed by calls under way.
func (s *Store) Reserved() int {
	s.making.Lock() // so that a new block counts in both indices and free, or in neither
	defer s.making.Unlock()
	o := s.reservations.Load()
	if o == nil {
		return 0
	}
	return o.indices - int(o.free.Load()) - o.alive
}

// all calls f with each block, by number.
func (o *reservations) all(f func(b *indexBlock)) {
	if o == nil {
		return
	}
	for number := range o.end.Load() {
		if b := o.block[number].Load(); b != nil {
			f(b)
		}
	}
}

// closeReservations frees the blocks' memory.
func (s *Store) closeReservations() {
	s.reservations.Load().all(func(b *indexBlock) { s.u.Free(b.run, blockChunks) })
}

// window lets other goroutines run in debug builds, at points where a race would show.
func window() {
	if debug.On {
		runtime.Gosched()
	}
}
