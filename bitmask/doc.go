// Package bitmask searches and changes bit masks in which a set bit means "in
// use": words in, words out, no memory of its own.
//
// A word is a uint64. Bit i stands for unit i; the lowest bit is drawn on the
// left:
//
//	         bit  0       4       8      12                63
//	              +-------+-------+-------+-- ... --+------+
//	word 0xF0FF   |1 1 1 1|1 1 1 1|0 0 0 0|1 1 1 1  |0 ... |   8 bytes
//	              +-------+-------+-------+-- ... --+------+
//	                               ^ FindRun(w, 4) = 8
//	                                       FindRun(w, 5) = 16
//
// Plain words: [Mask], [FindRun], [LongestRun]. One atomic word: [Word], whose
// TryAlloc, TryAllocAt and TryFree claim and give back runs of bits and say
// whether the word was empty before or is empty now.
//
// Goroutines: plain functions are pure; every method of Word may be called
// from any goroutine. Words belong in Go memory, never in mapped memory: the
// race detector reports false races for atomics that live outside the Go heap.
//
// Failure: a search that finds nothing returns ok = false. A count outside
// 1..64, or a run that leaves the word, is a broken contract and panics with
// the numbers.
//
// Cost: FindRun takes at most 6 shift steps whatever n is; an uncontended
// TryAlloc and TryFree are one compare-and-swap each.
package bitmask
