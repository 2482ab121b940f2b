package bitmask

import "math/bits"

// Fit is a search for a word that can hold a run of n units, best fit first:
//
//  1. words whose longest run is of the class of n, in rising order; when n is no
//     power of two some of them are too short for it, and after fitLooks of those
//     the rest is put off
//  2. words of each higher class in turn, all of which can hold it
//  3. what was put off
//
// Words that are changed while the search goes on may be met twice or missed.
type Fit struct {
	h     *Hierarchy
	n     int
	own   int  // class of n
	class int  // summary that is looked through
	from  int  // next word of it
	short int  // words of n's class met that were too short
	later int  // first word that was put off; past the words: none
	again bool // step 3
}

// fitLooks is how many words of n's own class may turn out to be too short
// before the search tries the higher classes.
const fitLooks = 8

// Fit begins a search. It panics unless n is in 1..64.
func (h *Hierarchy) Fit(n int) Fit {
	if uint(n-1) >= WordBits {
		badCount("Hierarchy.Fit", n)
	}
	own := bits.Len8(uint8(n)) - 1
	return Fit{h: h, n: n, own: own, class: own, later: len(h.words)}
}

// Next returns the next word that had the room when it was looked at, and false
// when there is no more.
func (f *Fit) Next() (word int, ok bool) {
	for {
		s := &f.h.summaries[f.class]
		i := 0
		if f.from == 0 {
			i = s.first()
		} else {
			i = s.next(f.from)
		}
		if i == len(f.h.words) {
			if !f.turn() {
				return i, false
			}
			continue
		}
		f.from = i + 1
		w := f.h.words[i].Load()
		if classOf(w) != f.class {
			s.settle(0, i)
			continue
		}
		if f.class > f.own || f.n == 1<<f.own {
			return i, true
		}
		if _, ok := FindRun(w, f.n); ok {
			return i, true
		}
		if f.short++; f.short == fitLooks && !f.again {
			f.later, f.from = f.from, len(f.h.words)
		}
	}
}

// turn goes on to the next summary, and returns false at the end.
func (f *Fit) turn() bool {
	switch {
	case f.again:
		return false
	case f.class < classes-1:
		f.class, f.from = f.class+1, 0
	default:
		f.class, f.from, f.again = f.own, f.later, true
	}
	return true
}

// Skip leaves out the words below to of those that are still to come in the
// present class.
func (f *Fit) Skip(to int) { f.from = max(f.from, to) }
