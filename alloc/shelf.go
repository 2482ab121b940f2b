package alloc

import (
	"fmt"
	"math/bits"
	"unsafe"

	"quarry/bitmask"
)

// The shelf.
//
// Eighths of chunks, 2 KiB each, for grids of a few rows: the many small archetypes of
// a world share what would be a chunk for each.
//
//	chunk 17   [ a ][ b ][ c ][   ][ d ][   ][   ][   ]    used 00010111
//	chunk 40   [ e ][ f ][ g ][ h ][ i ][ j ][ k ][ l ]    used 11111111
//
// The lowest chunk with a free eighth is taken from, so that the others may empty; one
// that is empty goes back to the universe at once.
//
// Invariants, checked by Verify:
//
//	S1 A chunk of the shelf has an eighth that is handed out, and is in use in the
//	   universe.
//	S2 open has the chunks of the shelf with a free eighth, none in a word below low.
//	S3 The counts of chunks and of eighths that are handed out are right.

// EighthSize is the size of an eighth of a chunk in bytes.
const EighthSize = ChunkSize / eighths

const (
	eighths     = 1 << UnitOrder
	eighthShift = chunkShift - UnitOrder
)

// Eighth names an eighth of a chunk of a universe: eight times the chunk's index, and
// which of its eighths it is.
type Eighth uint32

// Chunk returns the chunk that the eighth is of.
func (e Eighth) Chunk() ChunkIndex { return ChunkIndex(e / eighths) }

// firstOf returns a chunk's first eighth.
func firstOf(c ChunkIndex) Eighth { return Eighth(c) * eighths }

// PointerTo returns the address of an eighth of a chunk. It checks nothing, as Pointer.
func (u *Universe) PointerTo(e Eighth) unsafe.Pointer {
	// Safe because base is the start of one reservation and e is one of its eighths.
	return unsafe.Add(u.base, uintptr(e)<<eighthShift)
}

// Shelf is chunks of a universe that are handed out in eighths. One goroutine at a time
// may use it.
type Shelf struct {
	u    *Universe
	used []uint8      // by chunk: its eighths that are handed out; 0: not on the shelf
	open bitmask.Bits // by chunk: it is on the shelf, and an eighth is free
	low  int          // words of open below it are 0
	held int          // chunks
	live int          // eighths that are handed out
}

// NewShelf makes a shelf without chunks.
func NewShelf(u *Universe) *Shelf {
	checkUniverse("NewShelf", u)
	return &Shelf{u: u}
}

// Alloc hands out an eighth. Its memory is not cleared. An error is the universe's;
// nothing has changed then.
func (s *Shelf) Alloc() (Eighth, error) {
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
	return firstOf(ChunkIndex(c)) + Eighth(i), nil
}

// add puts a chunk of the universe on the shelf, which has no open one.
func (s *Shelf) add() error {
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
func (s *Shelf) Free(e Eighth) {
	c := int(e.Chunk())
	if !s.has(e) {
		panic(fmt.Sprintf("alloc: Shelf.Free: eighth %d of chunk %d is not handed out (freed twice?)", e%eighths, c))
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
func (s *Shelf) has(e Eighth) bool {
	c := int(e.Chunk())
	return c < len(s.used) && s.used[c]>>(e%eighths)&1 != 0
}

// Chunks returns the number of chunks on the shelf.
func (s *Shelf) Chunks() int { return s.held }

// Live returns the number of eighths that are handed out.
func (s *Shelf) Live() int { return s.live }

// Verify checks the numbered invariants and names the first that does not hold.
func (s *Shelf) Verify() error {
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
