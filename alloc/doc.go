// Package alloc hands out memory that the garbage collector never sees.
//
// A [Universe] is one reservation of address space, by default 16 GiB. It is divided into
// megachunks of 1 MiB, each of 64 chunks of 16 KiB. One 64-bit mask per megachunk records which
// chunks are in use; the masks live in Go memory:
//
//	base                                                   base + 16 GiB
//	+----------+----------+----------+--------- ... ---------------------+
//	| megachunk| megachunk| megachunk|  16,384 x 1,048,576 B             |
//	+----------+----------+----------+--------- ... ---------------------+
//	|<----- granule ----->|  2,097,152 B: unit of commit, one huge page
//
//	megachunk  +-------+-------+-------+-- ... --+-------+
//	           |chunk 0|chunk 1|chunk 2|         |chunk63|  64 x 16,384 B
//	           +-------+-------+-------+-- ... --+-------+
//	mask           1       1       0                 0      8 B of Go memory
//
// A [ChunkIndex] names a chunk. The chunk's address is base + index * 16 KiB, and
// [Universe.IndexOf] maps an address back to its chunk; neither needs a table.
//
// A [Heap] allocates blocks of any size on a universe: small blocks from size classes in chunks,
// larger ones as runs of whole chunks, and what has no room there as mappings of their own. A
// [Local] is a handle to a heap for one goroutine and uses no atomics on its fast path. [Pages]
// gives each block its own mapping. A [Table] stores records densely in columns. A [Growth] is the
// policy by which these types grow.
//
// [Allocator] is the interface of a heap and of the following types. An [Arena] allocates blocks
// one after another and frees them together; a [Stack] frees in reverse order; a [Pool] allocates
// slots of one type, named by a [Ref]; [Pages] allocates mappings. [New], [MakeSlice] and [Append]
// place values in any of them. Package alloc/wrap has wrappers; docs/memory.md lists which
// allocator suits which use. [SetBudget] bounds the whole process.
//
// Lifetime: memory is valid from Alloc to Free. A universe ends with Close; its address range is
// then reused for other universes and mappings of this process, never for anything else. Memory
// that has been free for a second returns to the system by itself (see [SetScavenger],
// [PurgeAfter], [Retain]), or at once through [Universe.Trim].
//
// Goroutines: every method of Universe and Heap except Close may be called from any goroutine.
// Alloc and Free take no lock unless memory must be committed or returned. Local, Table, Arena,
// Stack and Pool belong to one goroutine at a time.
//
// Garbage collector: it never scans this memory, so a value stored here must hold no Go pointer
// ([layout.PointerFree] reports whether a type holds any). With the data here the Go heap is small
// and is collected often. [GCFor] computes settings that compensate; [SetBudget] also caps what the
// process takes here and adjusts the Go limit as memory grows.
//
// Failure: limits and the operating system cause errors that wrap [ErrFull], [ErrCommit] (with
// [ErrBudget] beside it), [ErrReserve] or [ErrTooBig]; on such an error nothing has changed.
// Freeing what is already free, a run that crosses its megachunk, and Alloc, Free, Trim or Maintain
// after Close panic with the numbers involved. A closed universe reports no chunks. A double free
// is not detected once the memory has been allocated again.
//
// Cost: Alloc of one chunk is one compare-and-swap on a cache line owned by the goroutine's shard;
// Alloc of a run is a best-fit search; Free is one compare-and-swap. Who touches memory first waits
// for its page: 250 us for one of 2 MiB, which [Universe.Prefault] takes ahead. Reused memory is
// not cleared unless [Universe.AllocZeroed] is called. docs/decisions/0009 has figures.
package alloc
