package bitmask

import (
	"fmt"
	"math/bits"
)

// summary holds the levels of one class above the words of a Hierarchy. The comment in hierarchy.go
// explains the meaning of the bits and the protocol.
type summary struct {
	class  int      // class of the words that count, or notFull
	words  []Word   // words of the Hierarchy; this type only reads them
	levels [][]Word // bit i of word w of level k: word 64w+i below may count
	top    *Word    // the top level, one word
}

// levelsOf returns the number of levels above n words.
func levelsOf(n int) (levels int) {
	for levels = 1; n > WordBits; levels++ {
		n = wordsFor(n)
	}
	return levels
}

// newSummary returns a summary of words that are clear except for the last, whose top level is one
// word. Its levels are cut from memory, which is zero, and listed behind levels; it returns both as
// the next summary needs them. It reads only the last word of each level, since worlds are made in
// microseconds.
func newSummary(words []Word, class int, memory []Word, levels [][]Word) (summary, []Word, [][]Word) {
	s := summary{class: class, words: words}
	all := s.counts(0)
	for n := len(words); len(s.levels) == 0 || n > 1; {
		size := max(1, wordsFor(n))
		level := memory[:size:size]
		memory = memory[size:]
		levels = append(levels, level)
		s.levels = levels[len(levels)-len(s.levels)-1:]
		if all {
			fill(level, n-1)
		}
		if n > 0 && s.open(len(s.levels)-1, n-1) {
			level[(n-1)/WordBits].SetBit((n - 1) % WordBits)
		}
		n = size
		s.top = &level[0]
	}
	return s, memory, levels[len(levels):]
}

// fill sets the first n bits of a level, which is clear and which no other goroutine has seen: it
// doubles the words that are done, since a word at a time takes 5 ns each.
func fill(level []Word, n int) {
	whole := n / WordBits
	if whole > 0 {
		level[0].v.Or(^uint64(0))
	}
	for done := 1; done < whole; done *= 2 {
		copy(level[done:whole], level[:done])
	}
	if rest := n % WordBits; rest > 0 {
		level[whole].v.Or(Mask(0, rest))
	}
}

// classOf returns the class of a word: the c for which the word has a run of 2^c free units but
// none of 2^(c+1), and -1 when the word is full.
func classOf(w uint64) int {
	z1 := ^w
	z2 := z1 & (z1 >> 1)
	z4 := z2 & (z2 >> 2)
	z8 := z4 & (z4 >> 4)
	z16 := z8 & (z8 >> 8)
	z32 := z16 & (z16 >> 16)
	return one(z1) + one(z2) + one(z4) + one(z8) + one(z16) + one(z32) + one(z32&(z32>>32)) - 1
}

// one returns 1 if z has a set bit and 0 otherwise, without a branch.
func one(z uint64) int { return int((z | -z) >> (WordBits - 1)) }

// open reports whether the word under bit i of level k counts: at the bottom, whether it is of the
// class; above, whether it has a set bit.
func (s *summary) open(k, i int) bool {
	if k > 0 {
		return s.levels[k-1][i].Load() != 0
	}
	return s.counts(s.words[i].Load())
}

// counts reports whether a word with the mask w counts in this summary.
func (s *summary) counts(w uint64) bool {
	if s.class == notFull {
		return w != ^uint64(0)
	}
	return classOf(w) == s.class
}

// raise sets bit i of level k. While the word it set the bit in was clear before, it continues
// upward: the goroutine that sets a word's first bit raises the level above.
func (s *summary) raise(k, i int) {
	for ; k < len(s.levels); k++ {
		word, m := &s.levels[k][i/WordBits], uint64(1)<<(uint(i)%WordBits)
		if word.Load()&m != 0 || word.v.Or(m) != 0 {
			return
		}
		i /= WordBits
	}
}

// settle clears bit i of level k, whose word below was seen not to count, tests that word again,
// and sets the bit again if the word counts. It continues upward as long as a summary word has
// become clear.
func (s *summary) settle(k, i int) {
	for ; k < len(s.levels); k++ {
		early := mutant == recheckFirst && s.open(k, i)
		m := uint64(1) << (uint(i) % WordBits)
		left := s.levels[k][i/WordBits].v.And(^m) &^ m
		switch {
		case mutant == recheckFirst:
			if early {
				s.raise(k, i)
				return
			}
		case mutant == dropRecheck, mutant == dropUpperRecheck && k > 0:
		case s.open(k, i):
			s.raise(k, i)
			return
		}
		if left != 0 {
			return
		}
		i /= WordBits
	}
}

// first returns the lowest word that counts by the levels, or len(words) if there is none.
func (s *summary) first() int {
	k := len(s.levels) - 1
	w := s.top.Load()
	if w == 0 {
		return len(s.words)
	}
	i := bits.TrailingZeros64(w)
	for k--; k >= 0; k-- {
		if w = s.levels[k][i].Load(); w == 0 {
			return s.next(0) // emptied meanwhile: next tidies up
		}
		i = i*WordBits + bits.TrailingZeros64(w)
	}
	return i
}

// from is next, or first where that gives the same result faster.
func (s *summary) from(i int) int {
	if i == 0 {
		return s.first()
	}
	return s.next(i)
}

// next returns the lowest word at or after the given one that counts by the levels, or len(words)
// if there is none. It climbs from the lowest level until it finds a bit, up to the top word if
// necessary, and descends from there. It settles a bit that leads to a clear word.
func (s *summary) next(from int) int {
	k, i := 0, from // wanted: a set bit of level k at or after bit i
	for {
		w := uint64(0)
		if level := s.levels[k]; i/WordBits < len(level) {
			w = level[i/WordBits].Load() >> (uint(i) % WordBits)
		}
		switch {
		case w != 0:
			i += bits.TrailingZeros64(w)
			if k == 0 {
				return i
			}
			if !s.open(k, i) {
				s.settle(k, i)
				i++
				continue
			}
			k, i = k-1, i*WordBits
		case k+1 < len(s.levels):
			k, i = k+1, i/WordBits+1
		default:
			return len(s.words)
		}
	}
}

// verify checks I6. It computes the class of a word only where a clear bit means that it does not
// count.
func (s *summary) verify() error {
	n := len(s.words)
	for k, level := range s.levels {
		for i := range n {
			if level[i/WordBits].Load()>>(uint(i)%WordBits)&1 != 0 {
				continue
			}
			if k == 0 && s.class < classes-1 && s.words[i].Load() == 0 {
				continue // most words of a large universe, which tests verify after each step
			}
			if s.open(k, i) {
				return fmt.Errorf("bitmask: Hierarchy: I6: word %d below level %d of %s counts and its bit is clear",
					i, k, s)
			}
		}
		n = len(level)
	}
	return nil
}

// String lists the words that count.
func (s *summary) String() string {
	if s.class == notFull {
		return `"not full"`
	}
	return fmt.Sprintf("class %d", s.class)
}
