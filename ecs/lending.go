package ecs

import (
	"fmt"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"quarry/alloc"
	"quarry/internal/debug"
)

// Lent blocks: the end of the index space that Reserve hands out.
//
// The protocol is that of the articles: a block has a bitmap of the indices in use,
// and a count of them that is its lock too: it is 0..8,192, or busy while somebody
// reads or writes the bitmap and the versions.
//
//	count   5 --CAS--> busy: take bits 5 and 6, promise ids --> 7
//	used    ...0001_1111                                ...0111_1111
//	record  versions 0, 4, ..  (not written)            ids 5v1, 6v5
//
// Who reserves claims the number first, from free, and only then looks for the
// bits. A claim that succeeds will find them, however long others hold blocks; one
// that fails has changed nothing, and fails only when too few are free and no block
// can be made, not because blocks are busy. So there is nothing to roll back. In the
// search a busy block is passed over for another. It begins where the last one ended,
// in the list of blocks and in the block, so an index that was given back comes again
// only after the others.
//
// A reserved index has its bit set and an even version, v; the id promised is v+1.
// Creation writes v+1. Giving back writes v+2, so the id that was promised never
// comes again but by the wrap of versions.
//
// CreateReserved and Unreserve take a list in two steps. The first checks each id and
// marks it held, so that an id given twice is seen, also between goroutines; a bad one
// undoes the marks. The second cannot fail.
//
// Invariants, when no call is under way:
//
//	R4 A block's count is the number of bits set in used, and never busy.
//	R5 Where the bit is clear, the version is even. Where it is set, an odd version
//	   is an entity that is alive, an even one is reserved. No bit is held.
//	R6 A block's bit in open is set exactly when its count is less than 8,192.
//	R7 free is the number of clear bits of all blocks, alive that of odd versions.
//	R8 total is the number of blocks of both ends and at most 16,384, and the table
//	   holds each in its place and nothing else.

// busy is the count of a block that somebody works on.
const busy = -1

// lending is the other end of the records: blocks lent to other goroutines.
type lending struct {
	mu    sync.Mutex                      // held to make blocks
	n     atomic.Int32                    // blocks made; written under mu
	hint  atomic.Int32                    // block that a search begins at
	free  atomic.Int64                    // clear bits that nobody has claimed (R7)
	alive int                             // entities alive in the blocks; the owner's
	open  [maxBlocks / 64]atomic.Uint64   // bit set: the block is not full (R6)
	block [maxBlocks]atomic.Pointer[lent] // block k holds the indices from (maxBlocks-1-k)*8192 on
}

// lent is a block of indices lent to other goroutines. All but the locations, which
// are the owner's, is written by who has made the count busy.
type lent struct {
	count   atomic.Int32       // bits set in used, or busy (R4)
	order   int                // the block's place in lending.block
	base    uint32             // index of record 0
	next    int                // record that a search begins at
	run     alloc.ChunkIndex   // the chunks that the records lie in
	records *[blockSize]record // outside the garbage collector's heap
	used    [blockSize / 64]uint64
	held    [blockSize / 64]uint64 // of a list that is being created or given back
}

// other returns the other end, made when it is not there.
func (s *records) other() *lending {
	if o := s.lending.Load(); o != nil {
		return o
	}
	s.lending.CompareAndSwap(nil, new(lending))
	return s.lending.Load()
}

// of returns the block of an index, or nil.
func (o *lending) of(index uint32) *lent {
	if o == nil {
		return nil
	}
	return o.block[(maxBlocks-1-index>>blockShift)&(maxBlocks-1)].Load()
}

// claim makes n of the free indices ours, whichever they are. On an error nothing
// has changed.
func (s *records) claim(u *alloc.Universe, n int) error {
	o := s.other()
	for {
		free := o.free.Load()
		window()
		if free < int64(n) {
			if err := s.lend(u, n); err != nil {
				return err
			}
		} else if o.free.CompareAndSwap(free, free-int64(n)) {
			return nil
		}
	}
}

// lend makes blocks until n indices are free. On an error it has made none.
func (s *records) lend(u *alloc.Universe, n int) error {
	o := s.other()
	o.mu.Lock()
	defer o.mu.Unlock()
	free := int(o.free.Load())
	if free >= n {
		return nil
	}
	more := (n - free + blockSize - 1) / blockSize
	if !s.count(more) {
		return limit("entities a world", MaxEntities-1, nil)
	}
	runs := make([]alloc.ChunkIndex, 0, more)
	for range more {
		first, err := u.AllocExact(blockChunks)
		if err != nil {
			for _, run := range runs {
				u.Free(run, blockChunks)
			}
			s.total.Add(-int32(more))
			return limit("", 0, err)
		}
		runs = append(runs, first)
	}
	for _, run := range runs {
		// Safe because the run is blockChunks chunks long, exactly one block, and
		// stays ours until the world closes.
		block := (*[blockSize]record)(u.Pointer(run))
		clear(block[:])
		k := int(o.n.Load())
		s.table[maxBlocks-1-k].Store(block)
		o.add(&lent{order: k, base: uint32(maxBlocks-1-k) * blockSize, run: run, records: block})
	}
	return nil
}

// add enters a block; mu is held.
func (o *lending) add(b *lent) {
	k := b.order
	o.block[k].Store(b)
	o.n.Store(int32(k + 1))
	o.open[k/64].Or(1 << (k % 64))
	o.free.Add(blockSize)
}

// fill promises the ids that were claimed.
func (o *lending) fill(ids []Entity, tag uint32) {
	for {
		ids = ids[o.pass(ids, tag):]
		if len(ids) == 0 {
			return
		}
		runtime.Gosched() // blocks are busy, or bits came free behind us
	}
}

// pass goes over the blocks that are not full once, from the hint on, and returns
// how many ids it got.
func (o *lending) pass(ids []Entity, tag uint32) (got int) {
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

// take promises as many ids of a block as are wanted and free between where the last
// search ended and the block's end, which it says when it has reached it; none when
// the block is busy.
func (o *lending) take(b *lent, ids []Entity, tag uint32) (got int, end bool) {
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
		ids[got] = Entity{ref: b.base + uint32(at) | tag, version: b.records[at].version + 1}
		got++
		at++
	}
	b.next = at % blockSize
	o.unlock(b, count, count+int32(got))
	return got, at >= blockSize
}

// lock makes the count busy and returns what it was, waiting for others.
func (b *lent) lock() int32 {
	for {
		if count := b.count.Load(); count != busy && b.count.CompareAndSwap(count, busy) {
			window()
			return count
		}
		runtime.Gosched()
	}
}

// unlock ends the work on a block whose count was before and is now after.
func (o *lending) unlock(b *lent, before, after int32) {
	if bit := uint64(1) << (b.order % 64); after == blockSize {
		o.open[b.order/64].And(^bit)
	} else if before == blockSize {
		o.open[b.order/64].Or(bit)
	}
	window()
	if !b.count.CompareAndSwap(busy, after) {
		panic("ecs: a block of reserved ids was unlocked by somebody who did not lock it")
	}
}

// giveLent makes an entity dead and its index free.
func (s *records) giveLent(index uint32) {
	o := s.lending.Load()
	b, i := o.of(index), index&(blockSize-1)
	count := b.lock()
	atomic.StoreUint32(&b.records[i].version, b.records[i].version+1)
	b.used[i/64] &^= 1 << (i % 64)
	o.unlock(b, count, count-1)
	o.alive--
	o.free.Add(1)
}

// reserved counts the ids that are promised and neither created nor given back,
// those of calls under way included.
func (s *records) reserved() int {
	o := s.lending.Load()
	if o == nil {
		return 0
	}
	o.mu.Lock() // a block is counted in both or in none
	defer o.mu.Unlock()
	return int(o.n.Load())*blockSize - int(o.free.Load()) - o.alive
}

// closeLending gives the blocks back.
func (s *records) closeLending(u *alloc.Universe) {
	if o := s.lending.Load(); o != nil {
		for k := range o.n.Load() {
			u.Free(o.block[k].Load().run, blockChunks)
		}
	}
}

// verifyLending checks R4 to R8 and returns how many entities of lent blocks are
// alive.
func (s *records) verifyLending(u *alloc.Universe) (alive int, err error) {
	o, blocks, free := s.lending.Load(), 0, 0
	if o != nil {
		blocks = int(o.n.Load())
	}
	if err := s.verifyTable(u, o, blocks); err != nil {
		return 0, err
	}
	for k := range blocks {
		b := o.block[k].Load()
		used, odd, err := b.verify()
		if err != nil {
			return 0, err
		}
		if open := o.open[k/64].Load()>>(k%64)&1 != 0; open != (used < blockSize) {
			return 0, fmt.Errorf("ecs: R6: lent block %d has %d indices in use, its bit in open is %v", k, used, open)
		}
		alive += odd
		free += blockSize - used
	}
	if o != nil && (int(o.free.Load()) != free || o.alive != alive) {
		return 0, fmt.Errorf("ecs: R7: lent blocks have %d indices free and %d entities alive, the counts say %d and %d",
			free, alive, o.free.Load(), o.alive)
	}
	return alive, nil
}

// verifyTable checks R8.
func (s *records) verifyTable(u *alloc.Universe, o *lending, blocks int) error {
	if total := int(s.total.Load()); total != len(s.runs)+blocks || total > maxBlocks {
		return fmt.Errorf("ecs: R8: the owner has %d blocks, %d are lent, the count says %d of %d",
			len(s.runs), blocks, total, maxBlocks)
	}
	listed := 0
	for i := range s.table {
		block, at := s.table[i].Load(), maxBlocks-1-i
		switch {
		case block == nil:
			continue
		// Safe because addresses are compared and not followed.
		case i < len(s.runs) && unsafe.Pointer(block) == u.Pointer(s.runs[i]), at < blocks && block == o.block[at].Load().records:
			listed++
			continue
		}
		return fmt.Errorf("ecs: R8: the table has a block at %d that is not of that place", i)
	}
	if listed != len(s.runs)+blocks {
		return fmt.Errorf("ecs: R8: the table has %d of %d blocks", listed, len(s.runs)+blocks)
	}
	return nil
}

// verify checks R4 and R5 of a block and counts its bits and its odd versions.
func (b *lent) verify() (used, odd int, err error) {
	for i := range b.records {
		version := b.records[i].version
		set := b.used[i/64]>>(i%64)&1 != 0
		if set {
			used++
		}
		odd += int(version & 1)
		if !set && version&1 != 0 || b.held[i/64] != 0 {
			return 0, 0, fmt.Errorf("ecs: R5: lent index %d has version %d, bit %v; held are %#x",
				b.base+uint32(i), version, set, b.held[i/64])
		}
	}
	if count := int(b.count.Load()); count != used {
		return 0, 0, fmt.Errorf("ecs: R4: lent block %d has %d bits set, the count says %d", b.order, used, count)
	}
	return used, odd, nil
}

// window lets other goroutines run in debug builds, where they might do harm.
func window() {
	if debug.On {
		runtime.Gosched()
	}
}
