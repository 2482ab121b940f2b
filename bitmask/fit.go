package bitmask

import "math/bits"

// Fit is a search for a word that can hold a run of n units, best fit first:
//
//  1. words whose longest run is of the class of n; some may be too short for
//     it, or lie between its offsets, and after fitLooks of those the rest is put off
//  2. words of each higher class in turn, all of which can hold it
//  3. what was put off
//
// In a class words come in rising order, but of the next fitChoices that can hold
// the run the one whose longest run is shortest is given. (Measured with runs of
// random length in words of 64: first fit needs 9.7 % more words than the ideal
// for lengths up to 8, this needs 5.3; for lengths up to 64 it is 25.0 and 14.5.
// Looking at more than 4 words changes nothing; at the first alone, 7.7 and 20.1.)
//
// Words that are changed while the search goes on may be met twice or missed, and
// so may those that were looked at and not given.
type Fit struct {
	h     *Hierarchy
	n     int
	own   int  // class of n
	class int  // summary that is looked through
	from  int  // next word of it
	unfit int  // words of n's class met that could not hold the run
	later int  // first word that was put off; past the words: none
	again bool // step 3

	aligned bool // the run's offset is to be a multiple of n

	spared bool // a bit of the present class was left though its word has longer runs
}

const (
	fitLooks   = 32 // words of n's own class that may be unfit before higher classes are tried
	fitChoices = 4  // words that can hold the run, of which the tightest is given
)

// Fit begins a search. It panics unless n is in 1..64.
func (h *Hierarchy) Fit(n int) Fit {
	if uint(n-1) >= WordBits {
		badCount("Hierarchy.Fit", n)
	}
	own := bits.Len8(uint8(n)) - 1
	return Fit{h: h, n: n, own: own, class: own, later: len(h.words)}
}

// FitAligned begins a search for a run whose offset is a multiple of n. It panics
// unless n is a power of two in 1..64.
func (h *Hierarchy) FitAligned(n int) Fit {
	if uint(n-1) >= WordBits || n&(n-1) != 0 {
		badAligned("Hierarchy.FitAligned", n)
	}
	f := h.Fit(n)
	f.aligned = true
	return f
}

// Next returns the next word that had the room when it was looked at, and false
// when there is no more.
func (f *Fit) Next() (word int, ok bool) {
	for {
		if word, ok = f.choose(); ok || !f.turn() {
			return word, ok
		}
	}
}

// choose returns the tightest of the next words of the present class that can
// hold the run.
func (f *Fit) choose() (best int, ok bool) {
	s := &f.h.summaries[f.class]
	best, shortest := len(f.h.words), WordBits+1
	for choices := 0; choices < fitChoices; {
		i := s.from(f.from)
		if i == len(f.h.words) {
			break
		}
		f.from = i + 1
		class, longest, fits := f.look(f.h.words[i].Load())
		if class != f.class {
			// A run that comes and goes would have this bit cleared and set each
			// time: the first word of a class that has longer runs keeps its bit.
			if class > f.class && !f.spared {
				f.spared = true
			} else {
				s.settle(0, i)
			}
			continue
		}
		if !fits {
			if f.unfit++; f.unfit == fitLooks && !f.again {
				f.later, f.from = f.from, len(f.h.words)
			}
			continue
		}
		if choices++; longest < shortest {
			best, shortest = i, longest
		}
		if longest == max(f.n, 1<<f.class) {
			break // none can be tighter
		}
	}
	return best, best < len(f.h.words)
}

// look returns the class of a word and, if it is the present one, the length of the
// longest run, for n = 1 the least that there may be, and whether the word can hold ours.
func (f *Fit) look(w uint64) (class, longest int, fits bool) {
	if f.n == 1 { // one word of a class is as good as another
		return classOf(w), 1 << f.class, true
	}
	_, longest = LongestRun(w)
	class = bits.Len8(uint8(longest)) - 1
	if f.aligned && class == f.own { // a run of 2n has one of n that is aligned
		_, fits = FindAligned(w, f.n)
		return class, longest, fits
	}
	return class, longest, longest >= f.n
}

// turn goes on to the next summary, and returns false at the end.
func (f *Fit) turn() bool {
	f.spared = false
	if f.again {
		return false
	}
	for f.class < classes-1 {
		if f.class++; f.h.summaries[f.class].top.Load() != 0 {
			f.from = 0
			return true
		}
	}
	if f.later == len(f.h.words) {
		return false // nothing was put off
	}
	f.class, f.from, f.again = f.own, f.later, true
	return true
}

// Skip leaves out the words below to of those that are still to come in the
// present class.
func (f *Fit) Skip(to int) { f.from = max(f.from, to) }
