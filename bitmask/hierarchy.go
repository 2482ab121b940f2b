package bitmask

import (
	"fmt"
	"math/bits"
)

// A Hierarchy is atomic words with summaries above them, one for each of seven
// classes: a word is open for class c when it has a run of 2^c free units. Bit i
// of the lowest level of a summary says that word i may be open; bit i of the
// next level, that word i of the level below may have a bit set; and so on until
// a level has at most topWords words. A search reads those one by one, and then
// one word of each level on the way down.
//
// Summaries are hints and the words are the truth: a run is claimed by the
// compare-and-swap of one word, whatever the summaries say. A bit that is set
// above a word that is not open costs a look at that word. A bit that is clear
// above an open word hides it, and that must not last:
//
//	I6 At rest, no call under way, each word that is open for a class has its
//	   bit set in the lowest level of that summary, and each word of a level
//	   that has a bit set has its own set in the next one up. Verify checks it.
//
// The protocol that keeps I6 has two halves. Whoever makes a word open by a free
// changes the word first and sets the bit afterwards (raise). Whoever sees that
// a word is not open and clears its bit tests the word once more after the
// clear, and sets the bit again if the word is open (settle). So of a free and a
// clear that meet, either the clear comes before the free's set, or after it,
// and then its second test comes after the free and sees it. Between the levels
// the same holds with "has a bit set" in the place of "open". Only allocs close
// a word and only frees open it, so each change has one call to answer for it.
//
// While calls are under way a bit may be clear for an instant above an open
// word: between a free's two stores, and between a clear and its second test. A
// search that ends empty has proved nothing, so TryAlloc reads all words itself
// before it refuses.
//
// The test-clear-test order is that of mimalloc's chunk map; classes by the
// longest free run are known from jemalloc's page sets. Tests under the tag
// bitmask_sched run every interleaving of small histories, and plant defects in
// the protocol to show that they would be found (mutant.go).
type Hierarchy struct {
	units     int              // units in all, set by NewHierarchy
	words     []Word           // bit i of word w set: unit 64w+i is in use; bits past units are always set
	summaries [classes]summary // by class of run
}

const (
	topWords = 8 // most words of a topmost level: one cache line
	classes  = 7 // runs of 1, 2, 4, 8, 16, 32 and 64 units
)

// NewHierarchy returns a hierarchy of the given number of units, all of them
// free, in memory of the Go heap: 8 bytes for 64 units, and for the summaries an
// eighth more of many words, 56 bytes at least. It panics when units is negative.
func NewHierarchy(units int) *Hierarchy { return newHierarchy(units, topWords) }

func newHierarchy(units, top int) *Hierarchy {
	if units < 0 {
		panic(fmt.Sprintf("bitmask: NewHierarchy: units=%d is negative", units))
	}
	n := wordsFor(units)
	h := &Hierarchy{units: units, words: make([]Word, n)}
	if beyond := n*WordBits - units; beyond > 0 {
		h.words[n-1].TryAllocAt(WordBits-beyond, beyond)
	}
	for class := range h.summaries {
		h.summaries[class] = newSummary(h.words, class, top)
	}
	return h
}

// Len returns how many units there are, used and free.
func (h *Hierarchy) Len() int { return h.units }

// Count returns how many units are in use. It reads word after word, so while
// other calls are under way the sum may be one that never was.
func (h *Hierarchy) Count() int {
	n := 0
	for i := range h.words {
		n += bits.OnesCount64(h.words[i].Load())
	}
	return n - (len(h.words)*WordBits - h.units)
}

// First returns the lowest free unit and claims nothing; if there is none, it
// returns Len and false. While other calls are under way the unit may be taken
// before the caller sees it, and a unit may be missed that is just being freed.
func (h *Hierarchy) First() (unit int, ok bool) {
	s := &h.summaries[0]
	for i := s.first(); i < len(h.words); i = s.next(i + 1) {
		if w := h.words[i].Load(); w != ^uint64(0) {
			return i*WordBits + bits.TrailingZeros64(^w), true
		}
	}
	return h.units, false
}

// TryAlloc claims a run of n free units inside one word, in the lowest word that
// has one, and returns its offset. It returns Len and false when there is none:
// then each word, at one instant or another during the call, had none. It panics
// unless n is in 1..64.
//
// When n is a power of two it looks at a constant number of words: at most 8 of
// a topmost level and one of each below it, unless other goroutines take what it
// has seen. Any other n passes over words whose longest run is shorter than n
// but not than the power of two below it. A refusal reads every word.
func (h *Hierarchy) TryAlloc(n int) (offset int, ok bool) {
	if uint(n-1) >= WordBits {
		badCount("Hierarchy.TryAlloc", n)
	}
	class := bits.Len8(uint8(n)) - 1
	s := &h.summaries[class]
	for i := s.first(); i < len(h.words); i = s.next(i + 1) {
		at, seen, ok := h.claim(i, n)
		if ok {
			return at, true
		}
		if classesOf(seen) <= class {
			s.settle(0, i)
		}
	}
	if mutant == trustSummary {
		return h.units, false
	}
	for i := range h.words {
		if h.words[i].Load() == ^uint64(0) {
			continue
		}
		if at, _, ok := h.claim(i, n); ok {
			return at, true
		}
	}
	return h.units, false
}

// claim claims n units in word i, tells the summaries, and returns the offset
// among all units and the word as it was.
func (h *Hierarchy) claim(i, n int) (offset int, before uint64, ok bool) {
	at, before, ok := h.words[i].TryAlloc(n)
	if ok {
		h.closed(i, before, before|Mask(at, n))
	}
	return i*WordBits + at, before, ok
}

// closed tells the summaries for which word i is no longer open.
func (h *Hierarchy) closed(i int, before, now uint64) {
	for class, end := classesOf(now), classesOf(before); class < end; class++ {
		h.summaries[class].settle(0, i)
	}
}

// opened tells the summaries for which word i has become open.
func (h *Hierarchy) opened(i int, before, now uint64) {
	for class, end := classesOf(before), classesOf(now); class < end; class++ {
		h.summaries[class].raise(0, i)
	}
}

// TryAllocAt claims the n units from offset on, and returns ok = false with
// nothing changed when one of them is in use. It panics when the run does not
// lie inside one word and below Len.
func (h *Hierarchy) TryAllocAt(offset, n int) (ok bool) {
	i, at := h.place("Hierarchy.TryAllocAt", offset, n)
	before, ok := h.words[i].TryAllocAt(at, n)
	if ok {
		h.closed(i, before, before|Mask(at, n))
	}
	return ok
}

// TryFree gives the n units from offset on back, and returns ok = false with
// nothing changed when one of them is not in use: that is a double free. It
// panics when the run does not lie inside one word and below Len.
func (h *Hierarchy) TryFree(offset, n int) (ok bool) {
	i, at := h.place("Hierarchy.TryFree", offset, n)
	if mutant == raiseBeforeFree {
		h.opened(i, ^uint64(0), ^Mask(at, n))
		_, ok = h.words[i].TryFree(at, n)
		return ok
	}
	before, ok := h.words[i].TryFree(at, n)
	if ok {
		h.opened(i, before, before&^Mask(at, n))
	}
	return ok
}

// InUse reports whether unit i is in use at this instant. It panics unless i is
// in 0..Len-1.
func (h *Hierarchy) InUse(i int) bool {
	if uint(i) >= uint(h.units) {
		badBit("Hierarchy.InUse", i, h.units)
	}
	return h.words[i/WordBits].Load()>>(uint(i)%WordBits)&1 != 0
}

// place returns the word of a run and the run's offset in it.
func (h *Hierarchy) place(name string, offset, n int) (word, at int) {
	if uint(n-1) >= WordBits || uint(offset) >= uint(h.units) || offset%WordBits+n > WordBits || offset+n > h.units {
		panic(fmt.Sprintf("bitmask: %s: offset=%d n=%d is not a run inside one word of %d units",
			name, offset, n, h.units))
	}
	return offset / WordBits, offset % WordBits
}

// Verify checks I6 and that the bits past Len are set, and names the first place
// where it does not hold. Call it at rest: with calls under way I6 may be
// suspended.
func (h *Hierarchy) Verify() error {
	if n := len(h.words); n*WordBits > h.units {
		beyond := Mask(h.units%WordBits, n*WordBits-h.units)
		if w := h.words[n-1].Load(); w&beyond != beyond {
			return fmt.Errorf("bitmask: Hierarchy: the last word is %#x: a bit past %d units is clear", w, h.units)
		}
	}
	for class := range h.summaries {
		if err := h.summaries[class].verify(); err != nil {
			return err
		}
	}
	return nil
}
