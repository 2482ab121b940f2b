// Package bitmask searches and changes bit masks in which a set bit means "in use".
//
// A word is a uint64. Bit i stands for unit i. Drawings show the lowest bit on the left:
//
//	         bit  0       4       8      12                63
//	              +-------+-------+-------+-- ... --+------+
//	word 0xF0FF   |1 1 1 1|1 1 1 1|0 0 0 0|1 1 1 1  |0 ... |   8 bytes
//	              +-------+-------+-------+-- ... --+------+
//	                               ^ FindRun(w, 4) = 8
//	                                       FindRun(w, 5) = 16
//
// Plain words: [Mask], [FindRun], [LongestRun]. One atomic word: a [Word] claims and frees runs of
// bits and reports the mask before and after. Many plain words: [Bits], whose runs may cross words,
// with first and best fit, ranges and iteration. Many atomic words under summaries: [Hierarchy].
// For 2^20 units:
//
//	level 1         4 words       32 B   bit: that word of level 0 has a bit set  \ 7 times, for
//	level 0       256 words    2,048 B   bit: that word has a run of 2^c free     / c = 0..6
//	words      16,384 words  131,072 B   bit: that unit is in use
//
// Memory: the words belong to the caller. Only [NewBits] and [NewHierarchy] allocate, on the Go
// heap. Atomic words must be there, never in mapped memory: the race detector reports false races
// for atomics outside the Go heap.
//
// Goroutines: plain functions are pure. Every method of Word and Hierarchy may be called from any
// goroutine, except Verify, during which no other call may be under way. A Bits has one writer or
// many readers.
//
// Failure: a search that finds nothing returns ok = false and, as offset, the number of units
// searched. TryAllocAt of a unit in use, and TryFree of a free unit (a double free), return ok =
// false as well, without an offset; nothing has changed then. A count or run outside the limits
// below panics with the numbers, before anything has changed:
//
//	                        n             offset + n             n = 0
//	                        n             offset + n             n = 0
//	Mask, Word              1..64         at most 64             panics
//	Hierarchy               1..64         at most Len, one word  panics
//	Bits, runs              1 or more     at most Len            panics
//	Bits, ranges            0 or more     at most Len            changes nothing
//
// A Bits or Hierarchy without units finds nothing. When the last word is partial, the bits past the
// end are always set, so no search returns them.
//
// Cost, ns a call on an AMD Zen 5, Go 1.26, GOAMD64=v1, runs of mean length 8
// (best of several, machine not idle; 16,384 words hold 2^20 units):
//
//	FindRun, LongestRun of one word    0.5 for n = 1, 1.6 to 2.3 up to 64; 4.1
//	Bits.FindRun of 8 words            2 for n = 1, 4 up to 12, 5.4 for 16, 13 for 32
//	Bits.Ones                          0.4 a set bit
//	Hierarchy.First of 16,384 words    3.7 (640 without summaries, in AVX-512)
//	Hierarchy TryAlloc and TryFree     88 for both with n = 1, 47 with n = 64, uncontended
//	Hierarchy TryAlloc, refused        4,700: it reads every word
package bitmask
