package entity

import (
	"fmt"
	"math/bits"

	"quarry/internal/universe"
)

// What is checked before a difference is applied. It may come from anywhere, so each number is
// checked, and after Fits nothing breaks an invariant of the store.

// Fits returns an error unless the store is in the state that the earlier store of the difference
// was in, as far as the difference changes it, and will be sound afterwards.
func (s *Store) Fits(d *Difference) error {
	if now := s.State(); now != d.From {
		return fmt.Errorf("the ids are in state %+v, those of its base in %+v", now, d.From)
	}
	if d.none() {
		return nil
	}
	reserved, err := s.fitsBlocks(d)
	if err != nil {
		return err
	}
	end := uint32(0)
	for i := range d.Steps {
		step := &d.Steps[i]
		if step.N == 0 || (step.First+step.N-1)/blockSize != step.First/blockSize || step.Old == step.New ||
			step.First < end || uint64(step.First)+uint64(step.N) > uint64(d.To.Blocks)*blockSize {
			return fmt.Errorf("a step of the ids, %+v, is out of bounds or order", *step)
		}
		end = step.First + step.N
		for index := step.First; index < end; index++ {
			if err := s.fitsStep(d, step, index, reserved); err != nil {
				return err
			}
		}
	}
	return s.fitsWord(d, reserved)
}

// fitsBlocks checks the numbers of blocks, and returns the blocks of reservations that differ, by
// number.
func (s *Store) fitsBlocks(d *Difference) (reserved map[int]*ReservedBlock, err error) {
	to, fresh := d.To, 0
	if to.Blocks < d.From.Blocks || to.Records < d.From.Records || to.Records > to.Blocks || to.Hint < 0 ||
		to.Hint > to.Blocks {
		return nil, fmt.Errorf("the ids go from state %+v to %+v", d.From, to)
	}
	if to.Blocks > s.most {
		return nil, ErrFull
	}
	if n := to.Blocks - d.From.Blocks; n > idleBlocks+d.stepsFrom(uint32(d.From.Blocks*blockSize))+len(d.Reserved) {
		return nil, fmt.Errorf("the ids have %d new blocks, in which few indices were used", n)
	}
	if len(d.Reserved) > 0 {
		reserved = make(map[int]*ReservedBlock, len(d.Reserved))
	}
	before := -1
	for i := range d.Reserved {
		p := &d.Reserved[i]
		if p.Number <= before || p.Number >= to.Blocks || p.Number < d.From.Blocks && s.reserved(p.Number) == nil {
			return nil, fmt.Errorf("block %d of the ids is not of reservations", p.Number)
		}
		if before = p.Number; p.Number >= d.From.Blocks {
			fresh++
		}
		reserved[p.Number] = p
		if err := s.fitsUsed(d, p); err != nil {
			return nil, err
		}
	}
	for number := d.From.Blocks; number < to.Blocks; number++ {
		if reserved[number] == nil && number >= to.Records {
			return nil, fmt.Errorf("block %d of the ids is the owner's, there are records of %d", number, to.Records)
		}
	}
	if to.Own != d.From.Own+to.Blocks-d.From.Blocks-fresh {
		return nil, fmt.Errorf("the ids have %d own blocks after %d, of %d new ones, %d of reservations",
			to.Own, d.From.Own, to.Blocks-d.From.Blocks, fresh)
	}
	return reserved, nil
}

// idleBlocks is how many new blocks a difference may have in which no index was used. A store makes
// blocks when it needs them, so there are few; the records of so many take 16 MiB. Without a limit
// a few bytes could ask for a GiB.
const idleBlocks = 256

// stepsFrom returns the number of steps from an index on.
func (d *Difference) stepsFrom(index uint32) (n int) {
	for i := range d.Steps {
		if d.Steps[i].First >= index {
			n++
		}
	}
	return n
}

// fitsUsed checks the bits of a block of reservations.
func (s *Store) fitsUsed(d *Difference, p *ReservedBlock) error {
	b, before := s.reserved(p.Number), -1
	if p.New < 0 || p.New >= blockSize || b != nil && b.next != p.Old {
		return fmt.Errorf("the next search in block %d of the ids goes from %d to %d", p.Number, p.Old, p.New)
	}
	for _, w := range p.Used {
		if w.At <= before || w.At >= blockSize/64 {
			return fmt.Errorf("word %d of block %d of the ids is out of bounds or order", w.At, p.Number)
		}
		before = w.At
		excluded := excludedWord(p.Number, w.At)
		now := excluded
		if b != nil {
			now = b.used[w.At]
		}
		if w.Old != now || w.New&excluded != excluded {
			return fmt.Errorf("word %d of block %d of the ids is %#x, in its base %#x", w.At, p.Number, now, w.Old)
		}
		for gone := w.Old &^ w.New; gone != 0; gone &= gone - 1 {
			index := uint32(p.Number*blockSize + w.At*64 + bits.TrailingZeros64(gone))
			if d.VersionIn(s, index)&1 != 0 {
				return fmt.Errorf("index %d of the ids lives, and is not in use", index)
			}
		}
	}
	return nil
}

// fitsStep checks one index of a step.
func (s *Store) fitsStep(d *Difference, step *Step, index uint32, reserved map[int]*ReservedBlock) error {
	if now := s.Version(index); now != step.Old {
		return fmt.Errorf("index %d has version %d, in its base %d", index, now, step.Old)
	}
	number := int(index / blockSize)
	b, p := s.reserved(number), reserved[number]
	if isReserved := index == 0 || int(index) == d.To.Records*blockSize-1; isReserved ||
		step.New&1 != 0 && number >= d.To.Records {
		return fmt.Errorf("index %d is nobody's, or has no record", index)
	}
	if b == nil && p == nil {
		return nil
	}
	if isExcluded(index) {
		return fmt.Errorf("index %d is nobody's", index)
	}
	if step.New&1 != 0 && s.usedAfter(b, p, int(index%blockSize/64))>>(index%64)&1 == 0 {
		return fmt.Errorf("index %d lives, and is not in use", index)
	}
	return nil
}

// usedAfter returns a word of a block of reservations after its changes; either may be nil.
func (s *Store) usedAfter(b *indexBlock, p *ReservedBlock, word int) uint64 {
	if p != nil {
		for _, w := range p.Used {
			if w.At == word {
				return w.New
			}
		}
	}
	if b != nil {
		return b.used[word]
	}
	return excludedWord(p.Number, word)
}

// fitsWord checks that the indices of the word at hand will be free.
func (s *Store) fitsWord(d *Difference, reserved map[int]*ReservedBlock) error {
	to, number := d.To, int(d.To.WordBase/blockSize)
	if to.Word == 0 && to.WordBase == 0 {
		return nil
	}
	if to.Word == 0 || to.WordBase%64 != 0 || number >= to.Records || reserved[number] != nil ||
		s.reserved(number) != nil {
		return fmt.Errorf("the word at hand of the ids is %#x from %d on", to.Word, to.WordBase)
	}
	for word := to.Word; word != 0; word &= word - 1 {
		index := to.WordBase + uint32(bits.TrailingZeros64(word))
		if index == 0 || int(index) == to.Records*blockSize-1 || d.VersionIn(s, index)&1 != 0 {
			return fmt.Errorf("index %d is at hand, and not free", index)
		}
	}
	return nil
}

// DifferenceRoom is the memory that a store takes to apply a difference.
type DifferenceRoom struct{ runs []universe.ChunkIndex }

// RoomFor takes the memory that Apply needs, which must follow. The error is from the universe or
// the extent; then nothing has changed.
func (s *Store) RoomFor(d *Difference) (room DifferenceRoom, err error) {
	fresh := 0
	for i := range d.Reserved {
		if d.Reserved[i].Number >= d.From.Blocks {
			fresh++
		}
	}
	if room.runs, err = s.allocBlocks(fresh); err != nil {
		return DifferenceRoom{}, err
	}
	if d.To.Records > d.From.Records {
		if err = s.resize(d.To.Records); err != nil {
			for _, run := range room.runs {
				s.u.Free(run, blockChunks)
			}
			return DifferenceRoom{}, err
		}
	}
	return room, nil
}
