package bitmask

import "math/bits"

// Fit iterates over the words that can hold a run of n units, best fit first:
//
//  1. words whose longest run is of the class of n; some may be too short, or have no run at an
//     aligned offset, and after fitLooks of these the rest is deferred
//  2. words of each higher class in turn, all of which can hold the run
//  3. the deferred words
//
// Within a class the words come in rising order, except that of the next fitChoices words that can
// hold the run, the word whose longest run is shortest comes first. (Measured with runs of random
// length in words of 64: first fit needs 9.7 % more words than the ideal for lengths up to 8, this
// search 5.3; for lengths up to 64 they need 25.0 and 14.5. Examining more than 4 words changes
// nothing; examining one gives 7.7 and 20.1.)
//
// Words that change during the search may be returned twice or missed; the same holds for words
// that were examined and not returned.
type Fit struct {
	h     *Hierarchy
	n     int
	own   int  // class of n
	class int  // class whose summary is searched
	from  int  // next word of that class
	unfit int  // words of n's class found that could not hold the run
	later int  // first deferred word; past the words: none
	again bool // step 3

	aligned bool // the run's offset must be a multiple of n

	lo, hi int // words that are passed over: Avoid

	spared bool // a bit of the present class was kept though its word has longer runs
}

const (
	fitLooks   = 32 // unfit words of n's own class before higher classes are tried
	fitChoices = 4  // words that can hold the run, of which the tightest is returned
)

// Fit returns a search for a run of n units. It panics unless n is in 1..64.
func (h *Hierarchy) Fit(n int) Fit {
	if uint(n-1) >= WordBits {
		badCount("Hierarchy.Fit", n)
	}
	own := bits.Len8(uint8(n)) - 1
	return Fit{h: h, n: n, own: own, class: own, later: len(h.words)}
}

// FitAligned returns a search for a run whose offset is a multiple of n. It panics unless n is a
// power of two in 1..64.
func (h *Hierarchy) FitAligned(n int) Fit {
	if uint(n-1) >= WordBits || n&(n-1) != 0 {
		badAligned("Hierarchy.FitAligned", n)
	}
	f := h.Fit(n)
	f.aligned = true
	return f
}

// Next returns the next word that had room when it was examined, and false when there are no more.
func (f *Fit) Next() (word int, ok bool) {
	for {
		if word, ok = f.choose(); ok || !f.turn() {
			return word, ok
		}
	}
}

// choose returns the tightest of the next words of the present class that can hold the run.
func (f *Fit) choose() (best int, ok bool) {
	s := &f.h.summaries[f.class]
	best, shortest := len(f.h.words), WordBits+1
	for choices := 0; choices < fitChoices; {
		i := s.from(f.from)
		if i == len(f.h.words) {
			break
		}
		f.from = i + 1
		if i >= f.lo && i < f.hi {
			f.from = f.hi
			continue
		}
		class, longest, fits := f.look(f.h.words[i].Load())
		if class != f.class {
			// A run that is repeatedly allocated and freed would clear and set this bit each time,
			// so the first word of a class that has longer runs keeps its bit.
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

// look returns the class of a word and, if that is the present class, the length of its longest run
// (for n = 1 the least length that it may have) and whether the word can hold the run.
func (f *Fit) look(w uint64) (class, longest int, fits bool) {
	if f.n == 1 { // for n = 1 all words of a class are equally good
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

// turn moves on to the next summary, and returns false at the end.
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
		return false // nothing was deferred
	}
	f.class, f.from, f.again = f.own, f.later, true
	return true
}

// Avoid keeps the words lo to hi-1 out of the search. It replaces an earlier Avoid.
func (f *Fit) Avoid(lo, hi int) { f.lo, f.hi = lo, hi }

// Skip skips the words below to in the rest of the present class.
func (f *Fit) Skip(to int) { f.from = max(f.from, to) }
