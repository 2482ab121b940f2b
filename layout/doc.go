// Package layout computes where the columns of a chunk lie. It is arithmetic only: it reads no
// memory and owns none.
//
// Given sizes, alignments and a chunk size, a plan has the largest number of rows whose columns all
// fit. Every column starts on a cache line and is padded to whole lines, so vector code may read
// and fill it in whole vectors, and two columns never share a line:
//
//	16384 B chunk, 64 B lines, 408 rows of 40 B, 99.6 % used
//	offset   bytes     pad  column
//	     0    3264       0  Entity 408 x 8 B
//	  3264    6528       0  Position 408 x 16 B
//	  9792    6528       0  Velocity 408 x 16 B
//	 16320       -      64  free
//	beside the chunk: 12 B of versions, 0 B of enable masks
//
// [Plan.String] prints the drawing, and ExamplePlan checks it.
//
// [PointerFree] rejects a Go type that holds a Go pointer anywhere, and names the path to the
// field: the garbage collector does not see memory outside its heap. [Fields] lists the bytes of a
// type that belong to fields rather than padding.
//
// Goroutines: every function may be called from any goroutine. Failure: [New] returns an error that
// wraps [ErrTooBig] or [ErrColumn]. Cost: a plan is made once per archetype, in at most 13 rounds
// over the columns, and is never on a hot path.
package layout
