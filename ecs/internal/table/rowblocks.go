package table

import (
	"quarry/bitmask"
	"quarry/ecs/internal/entity"
)

// rowBlocks records which row blocks of a world are in use. It hands out the lowest free ones
// first, so that tables by row block stay short.
type rowBlocks struct {
	used bitmask.Bits
	low  int // no word below has a free row block
}

// take returns the first of n consecutive row blocks.
func (s *rowBlocks) take(n int) int {
	for {
		if first, ok := s.used[s.low:].TryAlloc(n); ok {
			first += s.low * bitmask.WordBits
			for s.low < len(s.used) && s.used[s.low] == ^uint64(0) {
				s.low++
			}
			return first
		}
		s.grow()
	}
}

// grow doubles the number of row blocks.
func (s *rowBlocks) grow() {
	have := len(s.used)
	if have*bitmask.WordBits >= entity.RowBlocks { // see location.go
		panic("ecs: a world has no row block left, though a universe has fewer chunks")
	}
	s.used = append(s.used, make(bitmask.Bits, max(1, have))...)
	if have == 0 {
		s.used.SetBit(0) // no chunk has it
	}
}

// free frees n row blocks.
func (s *rowBlocks) free(first, n int) {
	s.used.ClearRange(first, n)
	s.low = min(s.low, first/bitmask.WordBits)
}

// inUse returns the number of row blocks that chunks have.
func (s *rowBlocks) inUse() int { return max(0, s.used.Count()-1) }

// claim takes n certain row blocks, which are free.
func (s *rowBlocks) claim(first, n int) {
	for len(s.used)*bitmask.WordBits < first+n {
		s.grow()
	}
	s.used.SetRange(first, n)
}
