package value

import "math/bits"

// A copy of a store is a store of the same type with the same slots, free and in use, and values
// that the type's copy function made. So rows that were copied byte by byte, as a snapshot and a
// clone have them, find their values in it by the slots that they have.
//
//	Save      rows of the past, or of another world     Store            copy
//	          row 0 | slot 3 |                          slot 1: b  ----> slot 1: f(b)
//	          row 1 | slot 1 |                          slot 2: free     slot 2: free
//	                                                    slot 3: a  ----> slot 3: f(a)
//	Restore   the values of a copy go to the store's pages, by assignment
//
// Restore writes to the pages that are there, so a pointer to a value shows what its slot has then.
// Slots that came since the copy was made are free, and are handed out after those that were free
// then, in rising order: the store hands out the slots that it handed out then.
//
// Save calls a function of the program, which may panic: the copy has some of the values then, and
// the store is as before. Nothing else here fails.

// CopyWith sets the function that Save copies values by. It must not change from.
func (s *Store[T]) CopyWith(f func(from *T) T) { s.copy = f }

// Copies reports whether the type has a copy function.
func (s *Store[T]) Copies() bool { return s.copy != nil }

// Save makes to a copy of the store; what to had is ended. If the copy function panics, the caller
// clears to.
func (s *Store[T]) Save(to Managed) {
	c := to.(*Store[T])
	c.Clear()
	c.last, c.free = s.last, append(c.free, s.free...)
	c.size()
	c.findIdle()
	for word, idle := range c.idle {
		first := Slot(word<<6 + 1)
		for used := ^idle; used != 0; used &= used - 1 {
			n := first + Slot(bits.TrailingZeros64(used))
			*c.Get(n) = s.copy(s.Get(n))
		}
	}
}

// findIdle sets a bit of idle for each slot that is free, and for those of the last word that were
// never handed out.
func (s *Store[T]) findIdle() {
	words := (int(s.last) + 63) / 64
	if words > cap(s.idle) {
		s.idle = make([]uint64, words)
	}
	s.idle = s.idle[:words]
	clear(s.idle)
	for _, n := range s.free {
		s.idle[(n-1)/64] |= 1 << ((n - 1) % 64)
	}
	if part := s.last % 64; part != 0 {
		s.idle[words-1] |= ^uint64(0) << part
	}
}

// Restore gives the store the slots of a copy, and its values, which both have afterwards.
func (s *Store[T]) Restore(from Managed) {
	c := from.(*Store[T])
	s.free = s.free[:0]
	for n := s.last; n > c.last; n-- {
		s.free = append(s.free, n)
	}
	s.free = append(s.free, c.free...)
	s.last = max(s.last, c.last)
	s.size()
	for i, page := range s.pages {
		if i < len(c.pages) {
			copy(page, c.pages[i])
		} else {
			clear(page)
		}
	}
}

// Clear ends all values and makes all slots new. The pages stay in memory for later slots.
func (s *Store[T]) Clear() {
	for _, page := range s.pages {
		clear(page)
	}
	s.last, s.free = 0, s.free[:0]
	s.size()
}

// size gives the store the pages that last needs. Those that are too many lie after the end of the
// list, without values, and come back from there.
func (s *Store[T]) size() {
	need := int((s.last + 1<<s.order - 1) >> s.order)
	for n := len(s.pages); n < need; n++ {
		if n < cap(s.pages) && s.pages[:n+1][n] != nil {
			s.pages = s.pages[:n+1]
		} else {
			s.pages = append(s.pages, make([]T, 1<<s.order))
		}
	}
	s.pages = s.pages[:need]
}
