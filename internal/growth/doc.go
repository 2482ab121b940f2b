// Package growth has the policies by which stores, arenas and buffers grow. alloc.Growth is its
// face, where users read what each function promises.
//
//	Doubling().Capped(8)   from 0:  1  2  4  8  16  24  32 ...
//
// Ownership: a [Policy] is a value of 32 bytes and owns nothing. Goroutines: any number.
//
// Failure: a bad argument panics in the name of package alloc; Next cannot fail.
//
// Cost: Next takes a few nanoseconds.
package growth
