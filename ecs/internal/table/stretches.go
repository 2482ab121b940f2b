package table

import (
	"quarry/bitmask"
	"quarry/ecs/internal/entity"
)

// stretches records which stretches of a world are in use. It hands out the lowest free ones first,
// so that tables by stretch stay short.
type stretches struct {
	used bitmask.Bits
	low  int // no word below has a free stretch
}

// take returns the first of n consecutive stretches.
func (s *stretches) take(n int) int {
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

// grow doubles the number of stretches.
func (s *stretches) grow() {
	have := len(s.used)
	if have*bitmask.WordBits >= entity.Stretches { // see location.go
		panic("ecs: a world has no stretch of rows left, though a universe has fewer chunks")
	}
	s.used = append(s.used, make(bitmask.Bits, max(1, have))...)
	if have == 0 {
		s.used.SetBit(0) // no chunk has it
	}
}

// free frees n stretches.
func (s *stretches) free(first, n int) {
	s.used.ClearRange(first, n)
	s.low = min(s.low, first/bitmask.WordBits)
}

// inUse returns the number of stretches that chunks have.
func (s *stretches) inUse() int { return max(0, s.used.Count()-1) }

// claim takes n certain stretches, which are free.
func (s *stretches) claim(first, n int) {
	for len(s.used)*bitmask.WordBits < first+n {
		s.grow()
	}
	s.used.SetRange(first, n)
}
