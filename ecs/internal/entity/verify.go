package entity

import (
	"fmt"
	"math/bits"
	"unsafe"
)

// all returns the records.
func (s *Store) all() []Record {
	// Safe because n records lie from base on (R9).
	return unsafe.Slice((*Record)(s.view.base), s.view.n)
}

// Verify checks the invariants R1 to R10 and returns the number of live IDs. No other call may be
// under way, but for OpenSnapshotView and ImageOf of a moment.
func (s *Store) Verify() (alive int, err error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.view.base != s.records.Base() || s.view.n%blockSize != 0 ||
		int(s.view.n)*int(recordSize) != s.records.Size() ||
		int(s.view.n) > int(s.total.Load())*blockSize || len(s.free) != int(s.view.n)/64 ||
		len(s.summary) != len(s.free)/64 {
		return 0,
			fmt.Errorf("entity: R9: the view has %d records at %p, the extent %d bytes at %p; there are %d blocks, %d words of free bits and %d of summary",
				s.view.n, s.view.base, s.records.Size(), s.records.Base(), s.total.Load(), len(s.free), len(s.summary))
	}
	if err := s.records.Verify(); err != nil {
		return 0, fmt.Errorf("entity: R9: %w", err)
	}
	free := bits.OnesCount64(s.word)
	for word, mask := range s.free {
		taken := uint64(0)
		if s.word != 0 && int(s.wordBase/64) == word {
			taken = s.word
		}
		odd, err := s.verifyWord(word, mask, taken)
		if err != nil {
			return 0, err
		}
		alive += odd
		free += bits.OnesCount64(mask)
		if noted := s.summary[word/64]>>(word%64)&1 != 0; noted != (mask != 0) || noted && word/64 < s.hint {
			return 0, fmt.Errorf("entity: R3: word %d of free is %#x, its bit in summary %v, hint %d",
				word, mask, noted, s.hint)
		}
	}
	if free != s.nFree {
		return 0, fmt.Errorf("entity: R2: %d indices are free, the count says %d", free, s.nFree)
	}
	return alive, s.verifyBlocks()
}

// verifyWord checks R1, and R10 except for the versions of blocks, for 64 indices. It returns the
// number of live ones.
func (s *Store) verifyWord(word int, free, taken uint64) (alive int, err error) {
	if free&taken != 0 {
		return 0, fmt.Errorf("entity: R1: indices %#x from %d on are both free and at hand", free&taken, word*64)
	}
	o := s.reservations.Load()
	reserved := o != nil && o.of(uint32(word*64)) != nil
	for i, r := range s.all()[word*64 : word*64+64] {
		index := word*64 + i
		isFree, isAlive := (free|taken)>>i&1 != 0, r.version&1 != 0
		if isAlive {
			alive++
		} else if r.Location != Nowhere {
			return 0, fmt.Errorf("entity: R10: index %d has version %d and location %d", index, r.version, r.Location)
		}
		nobodys := index == 0 || index == int(s.view.n)-1
		switch {
		case nobodys && (isFree || isAlive), reserved && isFree, !nobodys && !reserved && isFree == isAlive:
			return 0,
				fmt.Errorf("entity: R1: index %d has version %d, free bit %v; it is in a block of reservations: %v",
					index, r.version, isFree, reserved)
		}
	}
	return alive, nil
}

// nobodys counts the held indices of a block.
func (b *indexBlock) nobodys() (n int) {
	for _, word := range b.held {
		n += bits.OnesCount64(word)
	}
	return n
}

// noReservations stands for the metadata of a store without blocks of reservations.
var noReservations reservations

// verifyBlocks checks R4 to R8, and R10 for blocks of reservations.
func (s *Store) verifyBlocks() (err error) {
	o, total := s.reservations.Load(), int(s.total.Load())
	if o == nil {
		o = &noReservations
	}
	blocks, free, alive, indices := 0, 0, 0, 0
	for number := range max(total, int(o.end.Load())) {
		b, used, odd := o.block[number].Load(), blockSize, 0
		if b != nil {
			if b.number != number || int(o.end.Load()) > total {
				return fmt.Errorf("entity: R8: the block at %d has number %d; of %d blocks the metadata ends at %d",
					number, b.number, total, o.end.Load())
			}
			if used, odd, err = s.verifyBlock(b); err != nil {
				return err
			}
			blocks, free, alive, indices = blocks+1, free+blockSize-used, alive+odd, indices+blockSize-b.nobodys()
		}
		if open := o.open[number/64].Load()>>(number%64)&1 != 0; open != (used < blockSize) {
			return fmt.Errorf("entity: R6: block %d has %d indices in use, its bit in open is %v", number, used, open)
		}
		if b == nil && number < total && number >= int(s.view.n)/blockSize {
			return fmt.Errorf("entity: R8: block %d is the owner's, and there are %d records", number, s.view.n)
		}
	}
	if total != s.own+blocks || total > maxBlocks {
		return fmt.Errorf("entity: R8: the owner has %d blocks, %d are of reservations, the count says %d of %d",
			s.own, blocks, total, maxBlocks)
	}
	if int(o.free.Load()) != free || o.alive != alive || o.indices != indices {
		return fmt.Errorf(
			"entity: R7: blocks of reservations have %d indices, %d free and %d alive, the counts say %d, %d and %d",
			indices, free, alive, o.indices, o.free.Load(), o.alive)
	}
	return nil
}

// verifyBlock checks R4 and R5 of a block, and R10 of its records. It returns the number of its set
// bits and of its odd versions.
func (s *Store) verifyBlock(b *indexBlock) (used, odd int, err error) {
	first := b.number * blockSize
	for i, version := range b.versions {
		index := first + i
		set, held := b.used[i/64]>>(i%64)&1 != 0, b.held[i/64]>>(i%64)&1 != 0
		if set {
			used++
		}
		odd += int(version & 1)
		if !set && (version&1 != 0 || isExcluded(uint32(index))) || held != isExcluded(uint32(index)) {
			return 0, 0, fmt.Errorf("entity: R5: index %d has version %d, bit %v, held %v", index, version, set, held)
		}
		record := uint32(0)
		if index < int(s.view.n) {
			record = s.view.at(uint32(index)).version
		}
		if record != version && (record|version)&1 != 0 {
			return 0, 0, fmt.Errorf("entity: R10: index %d has version %d, its record %d", index, version, record)
		}
	}
	if count := int(b.count.Load()); count != used {
		return 0, 0, fmt.Errorf("entity: R4: block %d has %d bits set, the count says %d", b.number, used, count)
	}
	return used, odd, nil
}
