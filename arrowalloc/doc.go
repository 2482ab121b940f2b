// Package arrowalloc lets arrow-go keep its buffers off the Go heap: an [Allocator] is a
// memory.Allocator of github.com/apache/arrow-go/v18 on an [alloc.Allocator]. It is an allocator
// and no export: it makes no arrays or records of a world's columns.
//
//	heap, err := alloc.NewHeap(universe)
//	mem := arrowalloc.New(heap)
//	b := array.NewInt64Builder(mem) // whatever takes a memory.Allocator
//	...
//	numbers.Release()
//	mem.AssertSize(t, 0) // as of arrow's CheckedAllocator
//	err = heap.Close()   // wraps alloc.ErrLeak unless all is released
//
// The buffers of an array of 1,000 int64, every tenth null, as bytes of the heap:
//
//	+------------------------+----------------------------------------+
//	| validity, 128 B        | values, 8000 B                         |
//	+------------------------+----------------------------------------+
//	  1 bit each, in whole     8 B each, in whole 64 B
//	  64 B
//
// Ownership: a block is arrow's from Allocate to Free, which Release calls for the last reference.
// On arrow's own GoAllocator, Release may be forgotten and the collector frees the buffer. Here it
// is a leak. And what points into a buffer, such as a string of array.String.Value or a slice of
// array.Int64.Int64Values, ends with it: copy it (strings.Clone) if it must last longer. In tests,
// a wrap.Guard below the Allocator faults when such a thing is used, and a wrap.Track says which
// calls have allocated what was not released.
//
// Which allocator: a [alloc.Heap], or wrappers of package alloc/wrap around one. Arrow releases in
// any order and from any goroutine, so an Arena, a Local or a Pool, which belong to one goroutine,
// are good only where all arrays of the program do too, and New refuses a Stack.
//
// Contents: new blocks and the bytes by which blocks grow are zero, as with GoAllocator. Blocks are
// aligned to 64 bytes ([Align]). A slice that shrinks gives memory back and may move; with
// GoAllocator it stays where it is and keeps its capacity.
//
// Goroutines: any goroutine may call any method, if any may call the allocator inside.
//
// Garbage collector: it sees neither the blocks nor what is in them. Arrow stores no Go pointers in
// buffers, and a program must store none. With the buffers off the heap, little is left to collect;
// alloc.GCFor computes settings for that, and alloc.SetBudget bounds the memory.
//
// Failure: the interface of arrow returns no error. Where the allocator inside refuses, Allocate
// and Reallocate panic with an error that wraps its error, so that errors.Is finds alloc.ErrFull,
// alloc.ErrCommit and alloc.ErrBudget in what recover returns; nothing has changed then. (With
// GoAllocator the runtime ends the program.) array.Concatenate returns the panic as an error that
// wraps it, readers and writers of package ipc as an error with its text. Package compute calls
// kernels in goroutines of its own and does not recover there: a refusal in a kernel ends the
// program.
//
// Misuse: Free and Reallocate of a slice that the allocator inside does not know as a live block
// panic with its text, before anything has changed: a second Free, memory of the Go heap, a slice
// that does not begin where it began. docs/memory.md says what a heap, a Track and a Guard can
// tell.
//
// Cost, beside the allocator's: an atomic addition to a number that all goroutines share, and
// clearing new memory. docs/memory.md has figures beside GoAllocator, and says which of arrow's own
// tests pass on this memory.
package arrowalloc
