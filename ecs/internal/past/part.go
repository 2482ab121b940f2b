package past

import (
	"math/bits"
	"sync"

	"quarry/internal/universe"
)

// pieces is a set of pieces of a unit, a bit each.
type pieces uint16

// PieceSize is the number of bytes of a piece: the least that is copied.
const PieceSize = UnitSize / 16

const allPieces = ^pieces(0)

// piecesOf returns the pieces that have one of n bytes of a unit, from byte at on.
func piecesOf(at, n int) pieces {
	first, last := at/PieceSize, (at+n-1)/PieceSize
	return allPieces >> (15 - (last - first)) << first
}

// copyTo copies the pieces of a unit.
func (set pieces) copyTo(dst, src []byte) {
	for set != 0 {
		at, n := set.run()
		copy(dst[at:at+n], src[at:])
		set &= set + 1<<(at/PieceSize) // without the run
	}
}

// run returns the bytes of the first pieces that lie behind each other, of a set that is not empty.
func (set pieces) run() (at, n int) {
	first := bits.TrailingZeros16(uint16(set))
	return first * PieceSize, bits.TrailingZeros16(^uint16(set>>first)) * PieceSize
}

// kept is the copy of a unit: its pieces, and 16 bits on the chunk that they lie in. 0: none.
type kept uint64

func keptIn(c universe.ChunkIndex, set pieces) kept { return kept(c)<<16 | kept(set) }

func (k kept) chunk() universe.ChunkIndex { return universe.ChunkIndex(k >> 16) }
func (k kept) pieces() pieces             { return pieces(k) }

// part is the copies of one memory in a layer.
type part struct {
	mu    sync.Mutex
	pages []*[pageUnits]kept // by unit; nil: none
	units []uint32           // the units that have a copy
	notes []note             // by rising address; nil but in debug builds
}

// of returns the copy of a unit.
func (p *part) of(unit int) kept {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at(unit)
}

// at is of while mu is held, or nobody else changes the part.
func (p *part) at(unit int) kept {
	if unit/pageUnits >= len(p.pages) || p.pages[unit/pageUnits] == nil {
		return 0
	}
	return p.pages[unit/pageUnits][unit%pageUnits]
}

// set sets the copy of a unit, which is not 0. mu is held, or nobody else uses the part.
func (p *part) set(unit int, k kept) {
	for unit/pageUnits >= len(p.pages) {
		p.pages = append(p.pages, nil)
	}
	page := &p.pages[unit/pageUnits]
	if *page == nil {
		*page = new([pageUnits]kept)
	}
	to := &(*page)[unit%pageUnits]
	if *to == 0 {
		p.units = append(p.units, uint32(unit))
	}
	*to = k
}

// put copies pieces of a unit to the part, but for those that it has. They must not change
// meanwhile, nor may another goroutine put pieces of the unit. An error is from the universe; the
// part is as it was then.
func (p *part) put(u *universe.Universe, unit int, set pieces, from []byte) error {
	k := p.of(unit)
	if set &^= k.pieces(); set == 0 {
		return nil
	}
	c := k.chunk()
	if k == 0 {
		var err error
		if c, err = u.AllocExact(1); err != nil {
			return err
		}
	}
	set.copyTo(u.Bytes(c, 1), from)
	p.mu.Lock()
	p.set(unit, keptIn(c, k.pieces()|set))
	p.mu.Unlock()
	return nil
}

// take gives the part a copy that the part of a newer layer has: its chunk, or the pieces that this
// one lacks; then the chunk is freed.
func (p *part) take(u *universe.Universe, unit int, k kept) {
	have := p.at(unit)
	if have == 0 {
		p.set(unit, k)
		return
	}
	(k.pieces() &^ have.pieces()).copyTo(u.Bytes(have.chunk(), 1), u.Bytes(k.chunk(), 1))
	p.set(unit, have|kept(k.pieces()))
	u.Free(k.chunk(), 1)
}

// clear forgets all copies.
func (p *part) clear() {
	for _, unit := range p.units {
		p.pages[unit/pageUnits][unit%pageUnits] = 0
	}
	p.units = p.units[:0]
}
