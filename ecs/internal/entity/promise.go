package entity

import (
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"quarry/alloc"
	"quarry/internal/debug"
)

// Promised ids.
//
// A block has a bitmap of the indices in use, and a count of them. The count is the block's lock
// too: it is 0..8,192, or busy while a goroutine reads or writes the bitmap and the versions.
//
//	count   5 --CAS--> busy: take bits 5 and 6, promise ids --> 7
//	used    ...0001_1111                                ...0111_1111
//	record  versions 0, 4, ..  (not written)            ids 5v1, 6v5
//
// Promise claims the number of indices first, from free, and only then looks for clear bits. After
// a claim the search will find that many bits, however long other goroutines keep blocks busy. A
// claim fails only when too few indices are free and no block can be made, not because blocks are
// busy, and changes nothing then. So there is nothing to roll back. The search skips busy blocks.
// It begins where the last search ended, in the list of blocks and in the block, so an index that
// was given back is promised again only after the others.
//
// A promised index has its bit set and an even version, v; the id promised is v+1.
// Revive writes v+1. TakeBack writes v+2, so the id that was promised comes again only when
// versions have wrapped.
//
// Revive and TakeBack take a list that Hold has checked and marked, so two goroutines cannot use
// the same id. They cannot fail.
//
// Invariants, checked by Verify, when no call is under way:
//
//	R4 A block's count is the number of bits set in used, and never busy.
//	R5 Where the bit is clear, the version is even. Where it is set, an odd version
//	   is an entity that is alive, an even one is promised. No bit is held.
//	R6 A block's bit in open is set exactly when its count is less than 8,192.
//	R7 free is the number of clear bits of all blocks, alive the number of odd versions.
//	R8 total is the number of blocks of both ends and at most 16,384.

// busy is the count of a block that a goroutine has locked.
const busy = -1

const blockChunks = blockSize * int(recordSize) / alloc.ChunkSize

// promises is the upper end of the index space, whose indices are promised.
type promises struct {
	mu    sync.Mutex                       // held to make blocks
	n     atomic.Int32                     // blocks made; written under mu
	hint  atomic.Int32                     // block that the next search begins at
	free  atomic.Int64                     // clear bits that no call has claimed (R7)
	alive int                              // entities alive in the blocks; the owner's to write
	open  [maxBlocks / 64]atomic.Uint64    // bit set: the block is not full (R6)
	block [maxBlocks]atomic.Pointer[block] // block k has the indices from (maxBlocks-1-k)*8192 on
}

// block is 8,192 indices for promises. The owner writes the locations; the goroutine that has made
// the count busy writes all else.
type block struct {
	count   atomic.Int32       // bits set in used, or busy (R4)
	order   int                // the block's place in promises.block
	base    uint32             // index of record 0
	next    int                // record that the next search begins at
	run     alloc.ChunkIndex   // the chunks that the records lie in
	records *[blockSize]Record // outside the garbage collector's heap
	used    [blockSize / 64]uint64
	held    [blockSize / 64]uint64 // bit set: the id is in a list that Hold has marked
}

// makePromises returns the books of promised ids. The first call makes them.
func (s *Store) makePromises() *promises {
	if o := s.promises.Load(); o != nil {
		return o
	}
	s.promises.CompareAndSwap(nil, new(promises))
	return s.promises.Load()
}

// of returns the block of an index, or nil.
func (o *promises) of(index uint32) *block {
	if o == nil {
		return nil
	}
	return o.block[(maxBlocks-1-index/blockSize)&(maxBlocks-1)].Load()
}

// promised returns the record of an ID whose index is in a block.
//
//go:noinline
func (s *Store) promised(e ID) *Record {
	return &s.promises.Load().of(e.Index()).records[e.Index()%blockSize]
}

// findPromised is Find for an ID that Own has not found.
//
//go:noinline
func (s *Store) findPromised(e ID) *Record {
	if !e.Is(s.view.tag) || e.Index() < s.view.n {
		return nil
	}
	b := s.promises.Load().of(e.Index())
	if b == nil {
		return nil
	}
	r := &b.records[e.Index()%blockSize]
	if atomic.LoadUint32(&r.version) != e.version || e.version&1 == 0 {
		return nil
	}
	return r
}

// Promise fills ids with promised IDs: each differs from all other IDs of the store, and is not alive
// before Revive. All are promised or none: an error is ErrFull or the universe's. Any goroutine may
// call it.
func (s *Store) Promise(ids []ID) error {
	if len(ids) == 0 {
		return nil
	}
	if err := s.claim(len(ids)); err != nil {
		return err
	}
	s.promises.Load().fill(ids, s.view.tag)
	return nil
}

// claim claims n free indices, without choosing them. On an error nothing has changed.
func (s *Store) claim(n int) error {
	o := s.makePromises()
	for {
		free := o.free.Load()
		window()
		if free < int64(n) {
			if err := s.makeBlocks(n); err != nil {
				return err
			}
		} else if o.free.CompareAndSwap(free, free-int64(n)) {
			return nil
		}
	}
}

// makeBlocks makes blocks until n indices are free. On an error it has made none.
func (s *Store) makeBlocks(n int) error {
	o := s.makePromises()
	o.mu.Lock()
	defer o.mu.Unlock()
	free := int(o.free.Load())
	if free >= n {
		return nil
	}
	more := (n - free + blockSize - 1) / blockSize
	if !s.count(more) {
		return ErrFull
	}
	runs := make([]alloc.ChunkIndex, 0, more)
	for range more {
		first, err := s.u.AllocExact(blockChunks)
		if err != nil {
			for _, run := range runs {
				s.u.Free(run, blockChunks)
			}
			s.total.Add(-int32(more))
			return err
		}
		runs = append(runs, first)
	}
	for _, run := range runs {
		// Safe because the run is blockChunks chunks long, exactly one block, and is the
		// store's until it closes.
		records := (*[blockSize]Record)(s.u.Pointer(run))
		clear(records[:])
		k := int(o.n.Load())
		o.add(&block{order: k, base: uint32(maxBlocks-1-k) * blockSize, run: run, records: records})
	}
	return nil
}

// add enters a block; mu is held.
func (o *promises) add(b *block) {
	k := b.order
	o.block[k].Store(b)
	o.n.Store(int32(k + 1))
	o.open[k/64].Or(1 << (k % 64))
	o.free.Add(blockSize)
}

// fill promises the ids that were claimed.
func (o *promises) fill(ids []ID, tag Tag) {
	for {
		ids = ids[o.pass(ids, tag):]
		if len(ids) == 0 {
			return
		}
		runtime.Gosched() // blocks are busy, or bits were cleared behind the search
	}
}

// pass visits each block that is not full once, from the hint on, and returns the number of ids that
// it promised.
func (o *promises) pass(ids []ID, tag Tag) (got int) {
	n, from := int(o.n.Load()), int(o.hint.Load())
	words := (n + 63) / 64
	for i := range words + 1 { // the first word twice: from the hint on, and whole
		word := (from/64 + i) % words
		open := o.open[word].Load()
		if i == 0 {
			open &= ^uint64(0) << (from % 64)
		}
		for ; open != 0 && got < len(ids); open &= open - 1 {
			k := word*64 + bits.TrailingZeros64(open)
			taken, end := o.take(o.block[k].Load(), ids[got:], tag)
			got += taken
			switch {
			case end:
				o.hint.Store(int32((k + 1) % n))
			case taken > 0:
				o.hint.Store(int32(k))
			}
		}
		if got == len(ids) {
			break
		}
	}
	return got
}

// take promises ids of a block, from where the last search of the block ended, until ids is full or
// the search reaches the block's end, which end reports. When the block is busy it promises none.
func (o *promises) take(b *block, ids []ID, tag Tag) (got int, end bool) {
	count := b.count.Load()
	if count == busy || count == blockSize || !b.count.CompareAndSwap(count, busy) {
		return 0, false
	}
	window()
	at := b.next
	for got < len(ids) && at < blockSize {
		word := at / 64
		free := ^b.used[word] >> (at % 64) << (at % 64)
		if free == 0 {
			at = (word + 1) * 64
			continue
		}
		at = word*64 + bits.TrailingZeros64(free)
		b.used[word] |= 1 << (at % 64)
		ids[got] = Make(b.base+uint32(at), tag, b.records[at].version+1)
		got++
		at++
	}
	b.next = at % blockSize
	o.unlock(b, count, count+int32(got))
	return got, at >= blockSize
}

// lock waits until the count is not busy, makes it busy and returns the count from before.
func (b *block) lock() int32 {
	for {
		if count := b.count.Load(); count != busy && b.count.CompareAndSwap(count, busy) {
			window()
			return count
		}
		runtime.Gosched()
	}
}

// unlock unlocks a block and sets its count to after; before is what lock returned.
func (o *promises) unlock(b *block, before, after int32) {
	if bit := uint64(1) << (b.order % 64); after == blockSize {
		o.open[b.order/64].And(^bit)
	} else if before == blockSize {
		o.open[b.order/64].Or(bit)
	}
	window()
	if !b.count.CompareAndSwap(busy, after) {
		panic("entity: Store.Promise: a block was unlocked by a goroutine that did not lock it")
	}
}

// givePromised ends an ID of a block and frees its index.
func (s *Store) givePromised(index uint32) {
	o := s.promises.Load()
	b, i := o.of(index), index%blockSize
	count := b.lock()
	atomic.StoreUint32(&b.records[i].version, b.records[i].version+1)
	b.used[i/64] &^= 1 << (i % 64)
	o.unlock(b, count, count-1)
	o.alive--
	o.free.Add(1)
}

// Promised returns the number of ids that are promised and neither revived nor taken back,
// including the ids that calls under way have claimed.
func (s *Store) Promised() int {
	o := s.promises.Load()
	if o == nil {
		return 0
	}
	o.mu.Lock() // a block is counted in both or in none
	defer o.mu.Unlock()
	return int(o.n.Load())*blockSize - int(o.free.Load()) - o.alive
}

// closePromises frees the blocks' memory.
func (s *Store) closePromises() {
	if o := s.promises.Load(); o != nil {
		for k := range o.n.Load() {
			s.u.Free(o.block[k].Load().run, blockChunks)
		}
	}
}

// window lets other goroutines run in debug builds, at points where a race would show.
func window() {
	if debug.On {
		runtime.Gosched()
	}
}
