package ecs

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"quarry/alloc"
)

// The entity store: one record of 8 bytes per index, in blocks of 8,192 that
// are runs of 4 chunks of the universe, and one bit per index that says whether
// it is free, in Go memory.
//
// The world's owner leases a word of 64 free bits at a time and hands out its
// ids from the lowest on: no atomics, and the same operations give the same
// ids. The lowest word with a free bit is leased next, so live records stay
// together.
//
// Ids that other goroutines reserve come from blocks of their own (lending.go), at
// the other end of the index space, so they never change which id the owner gets
// next; a look-up goes through one table and knows no difference. One count, total,
// keeps the two ends from meeting.
//
//	index 0                                                     2^27
//	  | owner's blocks, upwards ->    ...    <- lent blocks, downwards |
//
// Versions: even = dead, odd = alive, and one is added at each change, so they wrap
// from 2^32-1 (alive) to 0 (dead), on both ends alike. Version 0 is never alive.
//
// Invariants; R4 to R8 are those of lent blocks, in lending.go:
//
//	R1 In the owner's blocks a bit is set in free or in the lease, never both,
//	   exactly for the indices whose version is even. Index 0 is neither.
//	R2 nFree is the number of those bits.
//	R3 A summary bit is set exactly where the word of free is not zero, and no
//	   word of the summary below hint has a set bit.

const (
	blockSize   = 8192 // records of a block
	blockShift  = 13
	blockChunks = blockSize * 8 / alloc.ChunkSize
	maxBlocks   = MaxEntities / blockSize
)

// record says where an entity is. It is written by the world's owner; in a shared
// block the version is written under the block's lock, and atomically, for the owner
// reads it without.
type record struct {
	version  uint32   // odd = alive
	location location // chunk and row; meaningful while alive
}

type records struct {
	runs      []alloc.ChunkIndex // the chunks that block i, of the indices [i*8192, (i+1)*8192), lies in
	free      []uint64           // bit set: index is free and not leased
	summary   []uint64           // bit set: word of free is not zero (R3)
	hint      int                // first word of summary that may be non-zero
	lease     uint64             // free ids of the leased word
	leaseBase uint32             // index of the lease's bit 0
	nFree     int                // free indices, leased ones included (R2)

	table   *table                  // the blocks of both ends
	total   atomic.Int32            // blocks of both ends (R8); added to before a block is made
	lending atomic.Pointer[lending] // the other end; nil until the first Reserve
}

// table holds for each index / 8192 the block, or nil. It is 128 KiB, of which the
// system gives what is touched. It is read atomically, which on amd64 is free, as
// others may be adding blocks at their end.
type table [maxBlocks]atomic.Pointer[[blockSize]record]

// noBlocks is the table of closed worlds. It is never written.
var noBlocks table

// at returns the record of an index that has a block.
func (s *records) at(index uint32) *record { return s.table.at(index) }

func (t *table) at(index uint32) *record {
	// Safe because indices are below MaxEntities, which is what the table is for, and the
	// caller's has a block: pointers that are known not to be nil need not be checked.
	block := *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(t), uintptr(index>>blockShift)*unsafe.Sizeof(t[0])))
	return (*record)(unsafe.Add(block, uintptr(index%blockSize)*unsafe.Sizeof(record{})))
}

// find returns e's record when e is alive in this store, else nil. tag is that of the
// world: another in e leaves a bit beyond the index, and no block has such a number.
func (s *records) find(e Entity, tag uint32) *record {
	index := e.ref ^ tag
	if index >= MaxEntities {
		return nil
	}
	b := s.table[index>>blockShift].Load()
	if b == nil {
		return nil
	}
	r := &b[index%blockSize]
	if atomic.LoadUint32(&r.version) != e.version || e.version&1 == 0 {
		return nil
	}
	return r
}

// reserve makes sure that n indices are free. On an error some blocks may have
// been added; drop takes them out again.
func (s *records) reserve(u *alloc.Universe, n int) error {
	for s.nFree < n {
		if !s.count(1) {
			return limit("entities a world", MaxEntities-1, nil)
		}
		first, err := u.AllocExact(blockChunks)
		if err != nil {
			s.total.Add(-1)
			return limit("", 0, err)
		}
		// Safe because the run is blockChunks chunks long, exactly one block,
		// and stays ours until the world closes.
		block := (*[blockSize]record)(u.Pointer(first))
		clear(block[:])
		s.addBlock(block, first)
	}
	return nil
}

// count counts n blocks more of either end, and reports whether that many may be.
func (s *records) count(n int) bool {
	for {
		total := s.total.Load()
		if n > maxBlocks-int(total) {
			return false
		}
		if s.total.CompareAndSwap(total, total+int32(n)) {
			return true
		}
	}
}

func (s *records) addBlock(block *[blockSize]record, first alloc.ChunkIndex) {
	base := len(s.runs) * blockSize
	s.runs = append(s.runs, first)
	s.table[base/blockSize].Store(block)
	for i := base / 64; i < (base+blockSize)/64; i++ {
		s.free = append(s.free, ^uint64(0))
		if i%64 == 0 {
			s.summary = append(s.summary, 0)
		}
		s.summary[i/64] |= 1 << (i % 64)
	}
	s.nFree += blockSize
	if base == 0 {
		s.free[0] &^= 1 // index 0 is Null
		s.nFree--
	}
	s.hint = min(s.hint, base/64/64)
}

// drop gives back blocks that were added last, of which no id was ever handed
// out, until keep are left.
func (s *records) drop(u *alloc.Universe, keep int) {
	for last := len(s.runs) - 1; last >= keep; last-- {
		u.Free(s.runs[last], blockChunks)
		s.runs = s.runs[:last]
		s.free = s.free[:last*blockSize/64]
		s.summary = s.summary[:last*blockSize/64/64]
		s.nFree -= blockSize
		s.total.Add(-1)
		s.table[last].Store(nil)
		if last == 0 {
			s.nFree++ // index 0 was never free
		}
	}
}

// renew leases the lowest word that has a free bit. There must be one.
func (s *records) renew() {
	for s.summary[s.hint] == 0 {
		s.hint++
	}
	word := s.hint*64 + bits.TrailingZeros64(s.summary[s.hint])
	s.lease, s.leaseBase = s.free[word], uint32(word*64)
	s.free[word] = 0
	s.summary[word/64] &^= 1 << (word % 64)
}

// take hands out one index; reserve has made sure that there is one. The
// record's version becomes odd and its location at.
func (s *records) take(tag uint32, at location) Entity {
	if s.lease == 0 {
		s.renew()
	}
	index := s.leaseBase + uint32(bits.TrailingZeros64(s.lease))
	s.lease &= s.lease - 1
	s.nFree--
	r := s.at(index)
	r.version++
	r.location = at
	return Entity{ref: index | tag, version: r.version}
}

// takeRow fills ids with new entities in the rows of one chunk from at on.
func (s *records) takeRow(tag uint32, at location, ids []Entity) {
	for len(ids) > 0 {
		if s.lease == 0 {
			s.renew()
		}
		block := s.table[s.leaseBase>>blockShift].Load()
		lease, n := s.lease, 0
		for ; lease != 0 && n < len(ids); lease &= lease - 1 {
			index := s.leaseBase + uint32(bits.TrailingZeros64(lease))
			r := &block[index&(blockSize-1)]
			r.version++
			r.location = at
			ids[n] = Entity{ref: index | tag, version: r.version}
			at++
			n++
		}
		s.lease = lease
		s.nFree -= n
		ids = ids[n:]
	}
}

// owns says whether an index is of the owner's blocks.
func (s *records) owns(index uint32) bool { return int(index>>blockShift) < len(s.runs) }

// give makes an alive record dead and its index, which the owner's blocks hold, free;
// giveLent does so in the others. They are two so that this one is inlined.
func (s *records) give(index uint32, r *record) {
	r.version++
	word := int(index / 64)
	before := s.free[word]
	s.free[word] = before | 1<<(index%64)
	if before == 0 { // else the summary says so, and the hint is not above it (R3)
		s.summary[word/64] |= 1 << (word % 64)
		s.hint = min(s.hint, word/64)
	}
	s.nFree++
}

// giveRow is give for the entities of some rows, of either end.
func (s *records) giveRow(ids []Entity) {
	own := uint32(len(s.runs) * blockSize)
	for i := 0; i < len(ids); {
		word := ids[i].ref & indexMask / 64
		if word*64 >= own {
			s.giveLent(ids[i].ref & indexMask)
			i++
			continue
		}
		mask := uint64(0)
		for ; i < len(ids) && ids[i].ref&indexMask/64 == word; i++ {
			index := ids[i].ref & indexMask
			s.at(index).version++
			mask |= 1 << (index % 64)
		}
		s.free[word] |= mask
		s.summary[word/64] |= 1 << (word % 64)
		s.hint = min(s.hint, int(word/64))
		s.nFree += bits.OnesCount64(mask)
	}
}

// place tells the records of some entities that they are in the rows of one chunk
// from at on.
func (s *records) place(ids []Entity, at location) {
	// Without remembering the block of the id before: where ids are shuffled over blocks
	// that would be a branch that no CPU foresees, 12 cycles each time.
	t := s.table
	for ; len(ids) >= 4; ids, at = ids[4:], at+4 {
		four := ids[:4]
		t.at(four[0].ref & indexMask).location = at
		t.at(four[1].ref & indexMask).location = at + 1
		t.at(four[2].ref & indexMask).location = at + 2
		t.at(four[3].ref & indexMask).location = at + 3
	}
	for i, e := range ids {
		t.at(e.ref & indexMask).location = at + location(i)
	}
}

// endLease makes the ids of the lease free again, so that the lowest are next.
func (s *records) endLease() {
	if word := s.leaseBase / 64; s.lease != 0 {
		s.free[word] |= s.lease
		s.summary[word/64] |= 1 << (word % 64)
		s.hint = min(s.hint, int(word/64))
		s.lease = 0
	}
}

// close gives the blocks of both ends back.
func (s *records) close(u *alloc.Universe) {
	for _, first := range s.runs {
		u.Free(first, blockChunks)
	}
	s.closeLending(u)
	*s = records{table: &noBlocks}
}

const _ = uint(unsafe.Sizeof(record{}) - 8) // 8 bytes each way:
const _ = uint(8 - unsafe.Sizeof(record{}))
const _ = uint(8 - unsafe.Sizeof(Entity{}))
