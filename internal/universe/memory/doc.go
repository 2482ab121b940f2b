// Package memory has what all allocators do alike: the rules for size and alignment of a request,
// refusing it on purpose, and clearing, copying and poisoning a block.
//
// Ownership: the caller's blocks; the package keeps nothing. Goroutines: as many as blocks allow.
//
// Failure: [Check] panics in the name of the function of package alloc that it is given.
//
// Cost: Zero and Move work in steps of 256 KiB, since one clear or copy cannot be preempted.
package memory
