package entity

import (
	"fmt"
	"math/bits"
	"unsafe"
)

// all returns the owner's records.
func (s *Store) all() []Record {
	// Safe because n records lie from base on (R9).
	return unsafe.Slice((*Record)(s.view.base), s.view.n)
}

// Verify checks the invariants R1 to R9 and returns how many IDs are alive. No call may be
// under way.
func (s *Store) Verify() (alive int, err error) {
	if s.view.base != s.records.Base() || s.view.n%blockSize != 0 || int(s.view.n)*int(recordSize) != s.records.Size() ||
		len(s.free) != int(s.view.n)/64 || len(s.summary) != len(s.free)/64 {
		return 0, fmt.Errorf("entity: R9: the view has %d records at %p, the extent %d bytes at %p; there are %d words of free bits and %d of summary",
			s.view.n, s.view.base, s.records.Size(), s.records.Base(), len(s.free), len(s.summary))
	}
	if err := s.records.Verify(); err != nil {
		return 0, fmt.Errorf("entity: R9: %w", err)
	}
	free := bits.OnesCount64(s.lease)
	for word, mask := range s.free {
		leased := uint64(0)
		if s.lease != 0 && int(s.leaseBase/64) == word {
			leased = s.lease
		}
		odd, err := s.verifyWord(word, mask, leased)
		if err != nil {
			return 0, err
		}
		alive += odd
		free += bits.OnesCount64(mask)
		if noted := s.summary[word/64]>>(word%64)&1 != 0; noted != (mask != 0) || noted && word/64 < s.hint {
			return 0, fmt.Errorf("entity: R3: word %d of free is %#x, its bit in summary %v, hint %d", word, mask, noted, s.hint)
		}
	}
	if free != s.nFree {
		return 0, fmt.Errorf("entity: R2: %d indices are free, the count says %d", free, s.nFree)
	}
	promised, err := s.verifyPromises()
	return alive + promised, err
}

// verifyWord checks R1 of 64 indices and counts those that are alive.
func (s *Store) verifyWord(word int, free, leased uint64) (alive int, err error) {
	if free&leased != 0 {
		return 0, fmt.Errorf("entity: R1: indices %#x from %d on are both free and leased", free&leased, word*64)
	}
	for i, r := range s.all()[word*64 : word*64+64] {
		index := word*64 + i
		isFree, isAlive := (free|leased)>>i&1 != 0, r.version&1 != 0
		if isAlive {
			alive++
		}
		if index != 0 && isFree == isAlive || index == 0 && (isFree || isAlive) {
			return 0, fmt.Errorf("entity: R1: index %d has version %d, free bit %v", index, r.version, isFree)
		}
	}
	return alive, nil
}

// verifyPromises checks R4 to R8 and returns how many IDs of blocks are alive.
func (s *Store) verifyPromises() (alive int, err error) {
	o, blocks, free := s.promises.Load(), 0, 0
	if o != nil {
		blocks = int(o.n.Load())
	}
	if total := int(s.total.Load()); total != s.Blocks()+blocks || total > maxBlocks {
		return 0, fmt.Errorf("entity: R8: the owner has %d blocks, %d are for promises, the count says %d of %d", s.Blocks(), blocks, total, maxBlocks)
	}
	for k := range blocks {
		b := o.block[k].Load()
		if b.order != k || b.base != uint32(maxBlocks-1-k)*blockSize {
			return 0, fmt.Errorf("entity: R8: the block at %d is block %d, of indices from %d on", k, b.order, b.base)
		}
		used, odd, err := b.verify()
		if err != nil {
			return 0, err
		}
		if open := o.open[k/64].Load()>>(k%64)&1 != 0; open != (used < blockSize) {
			return 0, fmt.Errorf("entity: R6: block %d has %d indices in use, its bit in open is %v", k, used, open)
		}
		alive += odd
		free += blockSize - used
	}
	if o != nil && (int(o.free.Load()) != free || o.alive != alive) {
		return 0, fmt.Errorf("entity: R7: blocks have %d indices free and %d IDs alive, the counts say %d and %d", free, alive, o.free.Load(), o.alive)
	}
	return alive, nil
}

// verify checks R4 and R5 of a block and counts its bits and its odd versions.
func (b *block) verify() (used, odd int, err error) {
	for i := range b.records {
		version := b.records[i].version
		set := b.used[i/64]>>(i%64)&1 != 0
		if set {
			used++
		}
		odd += int(version & 1)
		if !set && version&1 != 0 || b.held[i/64] != 0 {
			return 0, 0, fmt.Errorf("entity: R5: index %d has version %d, bit %v; held are %#x", b.base+uint32(i), version, set, b.held[i/64])
		}
	}
	if count := int(b.count.Load()); count != used {
		return 0, 0, fmt.Errorf("entity: R4: block %d has %d bits set, the count says %d", b.order, used, count)
	}
	return used, odd, nil
}
