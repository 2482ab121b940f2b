package bitmask

import (
	"fmt"
	"math/bits"
)

// A Hierarchy is a set of atomic words with summaries above them. A word is of class c when its
// longest run of free units has a length in [2^c, 2^(c+1)); a full word has no class. There is one
// summary for each of the seven classes, and one for "not full". A word counts in the summary of
// its class and, unless it is full, in the last. Bit i of the lowest level of a summary is set if
// word i may count there. Bit i of the next level is set if word i of the level below may have a
// set bit, and so on up to a level of one word. A search reads that word and then one word of each
// level on the way down.
//
// A search for n units tries the words of the smallest class that can hold the run first, then the
// next classes, which preserves long runs for requests that need them (Fit).
//
// Summaries are hints; the words are the truth. A run is claimed by the compare-and-swap of one
// word, whatever the summaries have. A set bit above a word that does not count costs a look at
// that word. A clear bit above a word that counts hides the word, and that must not last:
//
//	I6 At rest, with no call under way, each word has its bit set in the lowest level of every
//	   summary where it counts, and each word of a level that has a set bit has its own bit set
//	   in the next level up. Verify checks this.
//
// The protocol that keeps I6 has two halves. A goroutine that changes a word so that it counts in a
// summary changes the word first and sets the bit afterwards (Note, raise). No goroutine clears a
// bit because a word ceases to count: searches do that, so a word that alternates between two
// classes costs two loads and no store. A search that finds a word which does not count clears its
// bit, tests the word once more, and sets the bit again if the word counts now (settle). Suppose a
// change and a clear meet. Either the clear comes before the change sets the bit, or it comes
// after, and then its second test comes after the change and sees it. A change that finds the bit
// already set leaves it: a later clear has its second test later still. Between the levels the same
// holds, with "has a set bit" in place of "counts".
//
// While calls are under way a bit may be clear for an instant above a word that counts. A search
// that ends empty therefore proves nothing, and TryAlloc reads all words itself before it refuses.
//
// The test-clear-test order comes from mimalloc's chunk map; classes by the longest free run are
// known from jemalloc's page sets. Tests under the tag bitmask_sched run every interleaving of
// small histories, and plant defects in the protocol to show that the tests find them (mutant.go).
type Hierarchy struct {
	units     int                  // total number of units, set by NewHierarchy
	words     []Word               // bit i of word w set: unit 64w+i is in use; bits past units are always set
	summaries [classes + 1]summary // by class of the longest run; the last one: not full
}

const (
	classes = 7       // longest run from 1, 2, 4, 8, 16, 32 and of 64 units
	notFull = classes // the summary of words with a free unit
)

// NewHierarchy returns a hierarchy of the given number of units, all free, on the Go heap: 8 bytes
// per 64 units, plus an eighth of that for the summaries of many words, at least 64 bytes. It
// panics when units is negative.
func NewHierarchy(units int) *Hierarchy {
	if units < 0 {
		panic(fmt.Sprintf("bitmask: NewHierarchy: units=%d is negative", units))
	}
	return NewHierarchyIn(units, make([]Word, HierarchyWords(units)))
}

// HierarchyWords returns how many words the masks and summaries of a hierarchy take.
func HierarchyWords(units int) int {
	words := wordsFor(units)
	all := 0
	for n := words; ; {
		n = max(1, wordsFor(n))
		all += n
		if n == 1 {
			return words + (classes+1)*all
		}
	}
}

// NewHierarchyIn is NewHierarchy in the caller's memory, which must read as zero and be the
// hierarchy's alone as long as that is used. It writes the summaries of free words, 1/32 of the
// memory, and of the masks only the last. It panics unless memory has HierarchyWords(units) words.
func NewHierarchyIn(units int, memory []Word) *Hierarchy {
	if units < 0 || len(memory) != HierarchyWords(units) {
		panic(fmt.Sprintf("bitmask: NewHierarchyIn: %d words of memory for %d units", len(memory), units))
	}
	n := wordsFor(units)
	h := &Hierarchy{units: units, words: memory[:n:n]}
	if beyond := n*WordBits - units; beyond > 0 {
		h.words[n-1].TryAllocAt(WordBits-beyond, beyond)
	}
	memory = memory[n:]
	levels := make([][]Word, 0, (classes+1)*levelsOf(n))
	for class := range h.summaries {
		h.summaries[class], memory, levels = newSummary(h.words, class, memory, levels)
	}
	return h
}

// Erase makes the memory that NewHierarchyIn was given read as zero again, for another use. Runs
// may have been claimed in the words below only; the hierarchy must not be used afterwards. Cost:
// 1/32 of the masks, and the words below.
func (h *Hierarchy) Erase(below int) {
	clear(h.words[:below])
	if n := len(h.words); n > 0 {
		clear(h.words[n-1:]) // bits past the last unit
	}
	for class := range h.summaries {
		written := below
		for _, level := range h.summaries[class].levels {
			written = min(wordsFor(written), len(level))
			if class >= classes-1 { // free words count here
				written = len(level)
			}
			clear(level[:written])
			clear(level[len(level)-1:]) // the last word, which may be short, counts in a class of its own
		}
	}
}

// Len returns the number of units, used and free.
func (h *Hierarchy) Len() int { return h.units }

// Count returns the number of units in use. It reads one word after another, so while other calls
// are under way the sum may be of no single instant.
func (h *Hierarchy) Count() int {
	n := 0
	for i := range h.words {
		n += bits.OnesCount64(h.words[i].Load())
	}
	return n - (len(h.words)*WordBits - h.units)
}

// First returns the lowest free unit without claiming it, or Len and false when there is none.
// While other calls are under way another goroutine may claim the unit before the caller sees it,
// and a unit that is just being freed may be missed.
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

// TryAlloc claims a run of n free units inside one word, the first word that Fit returns, and
// returns the run's offset. It returns Len and false when there is none: each word then had none at
// some instant during the call. It panics unless n is in 1..64.
//
// Cost: it reads a few words of each summary, and once each word that has ceased to count there
// since a search last found it. A refusal reads every word.
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

// claim claims n units in word i, notes the change, and returns the offset among all units.
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

// Note updates the summaries after the caller has changed word i from before to now. A change that
// is not noted may hide the word from searches (I6), except from the final scan of TryAlloc.
// Note(i, ^0, h.Word(i).Load()) makes up for all omitted notes of word i.
func (h *Hierarchy) Note(i int, before, now uint64) {
	// Testing a bit that is already set costs a load, less than computing the class of before.
	if c := classOf(now); c >= 0 {
		h.summaries[c].raise(0, i)
	}
	if before == ^uint64(0) && now != before {
		h.summaries[notFull].raise(0, i)
	}
}

// TryAllocAt claims the n units from offset on. When one of them is in use it changes nothing and
// returns false. It panics unless the run lies inside one word and below Len.
func (h *Hierarchy) TryAllocAt(offset, n int) (ok bool) {
	i, at := h.place("Hierarchy.TryAllocAt", offset, n)
	before, now, ok := h.words[i].TryAllocAt(at, n)
	if ok {
		h.Note(i, before, now)
	}
	return ok
}

// TryFree frees the n units from offset on. When one of them is free, which is a double free, it
// changes nothing and returns false. It panics unless the run lies inside one word and below Len.
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

// InUse reports whether unit i is in use at this instant. It panics unless i is in 0..Len-1.
func (h *Hierarchy) InUse(i int) bool {
	if uint(i) >= uint(h.units) {
		badBit("Hierarchy.InUse", i, h.units)
	}
	return h.words[i/WordBits].Load()>>(uint(i)%WordBits)&1 != 0
}

// place returns the word that contains a run and the run's offset in it.
func (h *Hierarchy) place(name string, offset, n int) (word, at int) {
	if uint(n-1) >= WordBits || uint(offset) >= uint(h.units) || offset%WordBits+n > WordBits || offset+n > h.units {
		panic(fmt.Sprintf("bitmask: %s: offset=%d n=%d is not a run inside one word of %d units",
			name, offset, n, h.units))
	}
	return offset / WordBits, offset % WordBits
}

// Verify checks I6 and that the bits past Len are set, and returns an error that names the first
// violation. No other call may be under way, since I6 may be suspended during a call.
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
