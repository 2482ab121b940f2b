package bitmask

import (
	"fmt"
	"math/bits"
)

// A Hierarchy is atomic words with summaries above them. A word is of class c
// when its longest run of free units has a length in [2^c, 2^(c+1)); a full word
// is of no class. There is one summary for each of the seven classes, and one for
// "not full". Bit i of the lowest level of a summary says that word i may count
// there; bit i of the next level, that word i of the level below may have a bit
// set; and so on until a level is one word. A search reads that, and then one word
// of each level on the way down.
//
// A run of n units is looked for among the words of the smallest class that can
// hold it, then of the next, so long runs are kept for those who need them (Fit).
//
// Summaries are hints and the words are the truth: a run is claimed by the
// compare-and-swap of one word, whatever the summaries say. A bit that is set
// above a word that does not count costs a look at that word. A bit that is clear
// above a word that counts hides it, and that must not last:
//
//	I6 At rest, no call under way, each word has its bit set in the lowest level
//	   of every summary where it counts, and each word of a level that has a bit
//	   set has its own set in the next one up. Verify checks it.
//
// The protocol that keeps I6 has two halves. A goroutine that changes a word so that
// it counts in a summary changes the word first and sets the bit afterwards (Note,
// raise). Nobody clears a bit because a word ceases to count: that is left to
// searches, so a word that goes to and fro between two classes costs two loads
// and no store. A search that meets a word which does not count clears its bit,
// tests the word once more after the clear, and sets the bit again if it counts
// now (settle). So of a change and a clear that meet, either the clear comes
// before the change's set, or after it, and then its second test comes after the
// change and sees it. A change that finds the bit set already leaves it: a clear
// that comes later has its second test later still. Between the levels the same
// holds with "has a bit set" in the place of "counts".
//
// While calls are under way a bit may be clear for an instant above a word that
// counts. A search that ends empty has proved nothing, so TryAlloc reads all
// words itself before it refuses.
//
// The test-clear-test order is that of mimalloc's chunk map; classes by the
// longest free run are known from jemalloc's page sets. Tests under the tag
// bitmask_sched run every interleaving of small histories, and plant defects in
// the protocol to show that they would be found (mutant.go).
type Hierarchy struct {
	units     int                  // units in all, set by NewHierarchy
	words     []Word               // bit i of word w set: unit 64w+i is in use; bits past units are always set
	summaries [classes + 1]summary // by class of the longest run; the last: not full
}

const (
	classes = 7       // longest run from 1, 2, 4, 8, 16, 32 and of 64 units
	notFull = classes // the summary of words with a free unit
)

// NewHierarchy returns a hierarchy of the given number of units, all of them
// free, in memory of the Go heap: 8 bytes for 64 units, and for the summaries an
// eighth more of many words, 64 bytes at least. It panics when units is negative.
func NewHierarchy(units int) *Hierarchy {
	if units < 0 {
		panic(fmt.Sprintf("bitmask: NewHierarchy: units=%d is negative", units))
	}
	n := wordsFor(units)
	h := &Hierarchy{units: units, words: make([]Word, n)}
	if beyond := n*WordBits - units; beyond > 0 {
		h.words[n-1].TryAllocAt(WordBits-beyond, beyond)
	}
	for class := range h.summaries {
		h.summaries[class] = newSummary(h.words, class)
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
	s := &h.summaries[notFull]
	for i := s.first(); i < len(h.words); i = s.next(i + 1) {
		if w := h.words[i].Load(); w != ^uint64(0) {
			return i*WordBits + bits.TrailingZeros64(^w), true
		}
		s.settle(0, i)
	}
	return h.units, false
}

// TryAlloc claims a run of n free units inside one word, the word that Fit gives
// first, and returns its offset. It returns Len and false when there is none:
// then each word, at one instant or another during the call, had none. It panics
// unless n is in 1..64.
//
// It looks at a few words of each summary and at those words that ceased to count
// there since a search was there last, each of which is looked at once. A
// refusal reads every word.
func (h *Hierarchy) TryAlloc(n int) (offset int, ok bool) {
	if uint(n-1) >= WordBits {
		badCount("Hierarchy.TryAlloc", n)
	}
	f := h.Fit(n)
	for i, ok := f.Next(); ok; i, ok = f.Next() {
		if at, ok := h.claim(i, n); ok {
			return at, true
		}
	}
	if mutant == trustSummary {
		return h.units, false
	}
	for i := range h.words {
		if h.words[i].Load() == ^uint64(0) {
			continue
		}
		if at, ok := h.claim(i, n); ok {
			return at, true
		}
	}
	return h.units, false
}

// claim claims n units in word i, tells the summaries, and returns the offset
// among all units.
func (h *Hierarchy) claim(i, n int) (offset int, ok bool) {
	at, before, now, ok := h.words[i].TryAlloc(n)
	if ok && mutant != forgetClass {
		h.Note(i, before, now)
	}
	return i*WordBits + at, ok
}

// Word returns word i, for callers that change it themselves and then call Note.
func (h *Hierarchy) Word(i int) *Word { return &h.words[i] }

// Words returns the number of words.
func (h *Hierarchy) Words() int { return len(h.words) }

// Note tells the summaries that the caller has changed word i. A change that is
// not noted may hide the word from searches (I6), but for the last look of
// TryAlloc; Note(i, ^0, h.Word(i).Load()) makes up for all that were left out.
func (h *Hierarchy) Note(i int, before, now uint64) {
	// A bit that is set already costs a load, less than the class of before.
	if c := classOf(now); c >= 0 {
		h.summaries[c].raise(0, i)
	}
	if before == ^uint64(0) && now != before {
		h.summaries[notFull].raise(0, i)
	}
}

// TryAllocAt claims the n units from offset on, and returns ok = false with
// nothing changed when one of them is in use. It panics when the run does not
// lie inside one word and below Len.
func (h *Hierarchy) TryAllocAt(offset, n int) (ok bool) {
	i, at := h.place("Hierarchy.TryAllocAt", offset, n)
	before, now, ok := h.words[i].TryAllocAt(at, n)
	if ok {
		h.Note(i, before, now)
	}
	return ok
}

// TryFree gives the n units from offset on back, and returns ok = false with
// nothing changed when one of them is not in use: that is a double free. It
// panics when the run does not lie inside one word and below Len.
func (h *Hierarchy) TryFree(offset, n int) (ok bool) {
	i, at := h.place("Hierarchy.TryFree", offset, n)
	if mutant == raiseBeforeFree {
		w := h.words[i].Load()
		h.Note(i, w, w&^Mask(at, n))
		_, _, ok = h.words[i].TryFree(at, n)
		return ok
	}
	before, now, ok := h.words[i].TryFree(at, n)
	if ok {
		h.Note(i, before, now)
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
