package store

import (
	"fmt"
	"math/bits"
	"unsafe"

	"quarry/bitmask"
	"quarry/internal/universe"
)

// Small chunks.
//
// A small chunk is an eighth of a chunk, 2 KiB, for stores of a few rows. Eight small archetypes of
// a world share one chunk, where each would otherwise take a whole one.
//
//	chunk 17   [ a ][ b ][ c ][   ][ d ][   ][   ][   ]    used 00010111
//	chunk 40   [ e ][ f ][ g ][ h ][ i ][ j ][ k ][ l ]    used 11111111
//
// Alloc takes from the lowest chunk with a free eighth, so that the other chunks may empty. An
// empty chunk is returned to the universe at once.
//
// Invariants, checked by Verify:
//
//	S1 A chunk that is held has an allocated eighth, and is in use in the universe.
//	S2 open has a bit for exactly the held chunks with a free eighth, none in a word below low.
//	S3 The counts of held chunks and of allocated eighths are right.

// SmallSize is the size of an eighth of a chunk, in bytes. It follows from UnitOrder (chunk.go);
// world files depend on it.
const SmallSize = universe.ChunkSize / eighths

const (
	eighths     = 1 << UnitOrder
	eighthShift = universe.ChunkShift - UnitOrder
)

// SmallIndex names an eighth of a chunk of a universe: eight times the chunk's index plus the
// number of the eighth in the chunk.
type SmallIndex uint32

// Chunk returns the chunk that contains the eighth.
func (e SmallIndex) Chunk() universe.ChunkIndex { return universe.ChunkIndex(e / eighths) }

// firstOf returns the first eighth of a chunk.
func firstOf(c universe.ChunkIndex) SmallIndex { return SmallIndex(c) * eighths }

// PointerTo returns the address of an eighth. Like Universe.Pointer it checks nothing.
func PointerTo(u *universe.Universe, e SmallIndex) unsafe.Pointer {
	// Safe because base is the start of one reservation and e is one of its eighths.
	return unsafe.Add(u.Base(), uintptr(e)<<eighthShift)
}

// SmallChunks allocates small chunks, eight to a chunk of a universe. One goroutine at a time may
// use it.
type SmallChunks struct {
	u    *universe.Universe
	used []uint8      // by chunk: its allocated eighths; 0: not held
	open bitmask.Bits // by chunk: held, with a free eighth
	low  int          // words of open below low are 0
	held int          // chunks held
	live int          // eighths allocated
}

// NewSmallChunks returns a SmallChunks on u that holds no chunk yet.
func NewSmallChunks(u *universe.Universe) *SmallChunks { return &SmallChunks{u: u} }

// Alloc returns a free eighth. Its memory is not cleared. An error is the universe's; nothing has
// changed then.
func (s *SmallChunks) Alloc() (SmallIndex, error) {
	for s.low < len(s.open) && s.open[s.low] == 0 {
		s.low++
	}
	if s.low == len(s.open) {
		if err := s.add(); err != nil {
			return 0, err
		}
	}
	c := s.low*bitmask.WordBits + bits.TrailingZeros64(s.open[s.low])
	i := bits.TrailingZeros8(^s.used[c])
	s.used[c] |= 1 << i
	if s.used[c] == 1<<eighths-1 {
		s.open.ClearBit(c)
	}
	s.live++
	return firstOf(universe.ChunkIndex(c)) + SmallIndex(i), nil
}

// add takes a chunk from the universe, when no held chunk has a free eighth.
func (s *SmallChunks) add() error {
	c, err := s.u.AllocExact(1)
	if err != nil {
		return err
	}
	s.extend(c)
	s.open.SetBit(int(c))
	s.low = int(c) / bitmask.WordBits
	s.held++
	return nil
}

// Adopt takes a chunk that the caller holds, with the given eighths allocated, bit i for eighth i:
// from then on the chunk is held as if Alloc had taken it from the universe, and its free eighths
// are handed out. Nobody else may free it. Adopt panics when no eighth is given, when the chunk is
// not in use, and when it is held already. Cost: constant, and a byte of Go memory for each chunk
// of the universe up to c.
func (s *SmallChunks) Adopt(c universe.ChunkIndex, used uint8) {
	if used == 0 {
		panic(fmt.Sprintf("alloc: SmallChunks.Adopt: no eighth of chunk %d is given", c))
	}
	if !s.u.InUse(c) {
		panic(fmt.Sprintf("alloc: SmallChunks.Adopt: chunk %d is not in use", c))
	}
	if int(c) < len(s.used) && s.used[c] != 0 {
		panic(fmt.Sprintf("alloc: SmallChunks.Adopt: chunk %d is held already", c))
	}
	s.extend(c)
	s.used[c] = used
	s.held++
	s.live += bits.OnesCount8(used)
	if used != 1<<eighths-1 {
		s.open.SetBit(int(c))
		s.low = min(s.low, int(c)/bitmask.WordBits)
	}
}

// extend makes the metadata reach a chunk.
func (s *SmallChunks) extend(c universe.ChunkIndex) {
	for len(s.used) <= int(c) {
		s.used = append(s.used, make([]uint8, bitmask.WordBits)...)
		s.open = append(s.open, 0)
	}
}

// Free frees an eighth. It panics when e is not allocated.
func (s *SmallChunks) Free(e SmallIndex) {
	c := int(e.Chunk())
	if !s.has(e) {
		panic(fmt.Sprintf("alloc: SmallChunks.Free: eighth %d of chunk %d is not handed out (freed twice?)",
			e%eighths, c))
	}
	s.live--
	s.used[c] &^= 1 << (e % eighths)
	if s.used[c] == 0 {
		s.open.ClearBit(c)
		s.held--
		s.u.Free(universe.ChunkIndex(c), 1)
		return
	}
	s.open.SetBit(c)
	s.low = min(s.low, c/bitmask.WordBits)
}

// has reports whether an eighth is allocated.
func (s *SmallChunks) has(e SmallIndex) bool {
	c := int(e.Chunk())
	return c < len(s.used) && s.used[c]>>(e%eighths)&1 != 0
}

// Chunks returns the number of chunks held.
func (s *SmallChunks) Chunks() int { return s.held }

// Live returns the number of eighths allocated.
func (s *SmallChunks) Live() int { return s.live }

// Verify checks the numbered invariants and returns an error that names the first that does not
// hold.
func (s *SmallChunks) Verify() error {
	held, live := 0, 0
	for c, used := range s.used {
		if used != 0 && !s.u.InUse(universe.ChunkIndex(c)) {
			return fmt.Errorf("alloc: S1: eighths %#08b of chunk %d are handed out, which is not in use", used, c)
		}
		open := used != 0 && used != 1<<eighths-1
		if s.open.Has(c) != open || open && c/bitmask.WordBits < s.low {
			return fmt.Errorf(
				"alloc: S2: eighths %#08b of chunk %d are handed out, open %v, looked for from chunk %d on",
				used, c, s.open.Has(c), s.low*bitmask.WordBits)
		}
		if used != 0 {
			held++
		}
		live += bits.OnesCount8(used)
	}
	if held != s.held || live != s.live {
		return fmt.Errorf("alloc: S3: %d eighths of %d chunks are handed out, counted %d of %d",
			live, held, s.live, s.held)
	}
	return nil
}
