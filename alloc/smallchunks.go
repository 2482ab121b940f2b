package alloc

import (
	"fmt"
	"math/bits"
	"unsafe"

	"quarry/bitmask"
)

// Small chunks.
//
// A small chunk is an eighth of a chunk, 2 KiB, for stores of a few rows: eight small archetypes of
// a world share what would be a chunk for each.
//
//	chunk 17   [ a ][ b ][ c ][   ][ d ][   ][   ][   ]    used 00010111
//	chunk 40   [ e ][ f ][ g ][ h ][ i ][ j ][ k ][ l ]    used 11111111
//
// The lowest chunk with a free eighth is taken from, so that the others may empty; one that is
// empty goes back to the universe at once.
//
// Invariants, checked by Verify:
//
//	S1 A chunk that is held has an eighth that is handed out, and is in use in the universe.
//	S2 open has the chunks that are held and have a free eighth, none in a word below low.
//	S3 The counts of chunks and of eighths that are handed out are right.

// SmallChunkSize is the size of an eighth of a chunk in bytes.
const SmallChunkSize = ChunkSize / eighths

const (
	eighths     = 1 << UnitOrder
	eighthShift = chunkShift - UnitOrder
)

// SmallIndex is the number of an eighth of a chunk of a universe: eight times the chunk's index,
// and which of its eighths it is.
type SmallIndex uint32

// Chunk returns the chunk that the eighth is of.
func (e SmallIndex) Chunk() ChunkIndex { return ChunkIndex(e / eighths) }

// firstOf returns a chunk's first eighth.
func firstOf(c ChunkIndex) SmallIndex { return SmallIndex(c) * eighths }

// PointerTo returns the address of an eighth of a chunk. It checks nothing, as Pointer.
func (u *Universe) PointerTo(e SmallIndex) unsafe.Pointer {
	// Safe because base is the start of one reservation and e is one of its eighths.
	return unsafe.Add(u.base, uintptr(e)<<eighthShift)
}

// SmallChunks hands out small chunks, eight to a chunk of a universe. One goroutine at a time may
// use it.
type SmallChunks struct {
	u    *Universe
	used []uint8      // by chunk: its eighths that are handed out; 0: not held
	open bitmask.Bits // by chunk: it is held, and an eighth is free
	low  int          // words of open below it are 0
	held int          // chunks
	live int          // eighths that are handed out
}

// NewSmallChunks returns SmallChunks that hold no chunk of the universe.
func NewSmallChunks(u *Universe) *SmallChunks {
	checkUniverse("NewSmallChunks", u)
	return &SmallChunks{u: u}
}

// Alloc hands out an eighth. Its memory is not cleared. An error is the universe's; nothing has
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
	return firstOf(ChunkIndex(c)) + SmallIndex(i), nil
}

// add takes a chunk of the universe, when no chunk that is held has a free eighth.
func (s *SmallChunks) add() error {
	c, err := s.u.AllocExact(1)
	if err != nil {
		return err
	}
	for len(s.used) <= int(c) {
		s.used = append(s.used, make([]uint8, bitmask.WordBits)...)
		s.open = append(s.open, 0)
	}
	s.open.SetBit(int(c))
	s.low = int(c) / bitmask.WordBits
	s.held++
	return nil
}

// Free takes an eighth back. It panics for one that is not handed out.
func (s *SmallChunks) Free(e SmallIndex) {
	c := int(e.Chunk())
	if !s.has(e) {
		panic(fmt.Sprintf("alloc: SmallChunks.Free: eighth %d of chunk %d is not handed out (freed twice?)", e%eighths, c))
	}
	s.live--
	s.used[c] &^= 1 << (e % eighths)
	if s.used[c] == 0 {
		s.open.ClearBit(c)
		s.held--
		s.u.Free(ChunkIndex(c), 1)
		return
	}
	s.open.SetBit(c)
	s.low = min(s.low, c/bitmask.WordBits)
}

// has reports whether an eighth is handed out.
func (s *SmallChunks) has(e SmallIndex) bool {
	c := int(e.Chunk())
	return c < len(s.used) && s.used[c]>>(e%eighths)&1 != 0
}

// Chunks returns the number of chunks of the universe that are held.
func (s *SmallChunks) Chunks() int { return s.held }

// Live returns the number of eighths that are handed out.
func (s *SmallChunks) Live() int { return s.live }

// Verify checks the numbered invariants and names the first that does not hold.
func (s *SmallChunks) Verify() error {
	held, live := 0, 0
	for c, used := range s.used {
		if used != 0 && !s.u.InUse(ChunkIndex(c)) {
			return fmt.Errorf("alloc: S1: eighths %#08b of chunk %d are handed out, which is not in use", used, c)
		}
		open := used != 0 && used != 1<<eighths-1
		if s.open.Has(c) != open || open && c/bitmask.WordBits < s.low {
			return fmt.Errorf("alloc: S2: eighths %#08b of chunk %d are handed out, open %v, looked for from chunk %d on",
				used, c, s.open.Has(c), s.low*bitmask.WordBits)
		}
		if used != 0 {
			held++
		}
		live += bits.OnesCount8(used)
	}
	if held != s.held || live != s.live {
		return fmt.Errorf("alloc: S3: %d eighths of %d chunks are handed out, counted %d of %d", live, held, s.live, s.held)
	}
	return nil
}
