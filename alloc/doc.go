// Package alloc hands out memory that the garbage collector never sees.
//
// A [Universe] is one reservation of address space, by default 16 GiB, cut into megachunks of 1
// MiB, each of 64 chunks of 16 KiB. One 64-bit mask per megachunk says which chunks are in use; the
// masks live in Go memory:
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
// A chunk is named by its [ChunkIndex]; its address is base + index * 16 KiB, and
// [Universe.IndexOf] goes back, both without a table.
//
// A [Heap] on a universe gives blocks of any size: size classes in chunks, runs of chunks up to 1
// MiB, mappings of their own above; a [Local] is a handle to a heap for one goroutine, without
// atomics. [Pages] gives each block a mapping of its own. A [Table] keeps records in columns,
// densely; under it is a [ColumnStore], which package ecs has too, with a [SmallChunks] for small
// chunks; an [Extent] stays in one piece as it grows. [Growth] says how they and others grow.
//
// [Allocator] is what a heap and all of the following have in common: an [Arena] hands out blocks
// one behind the other and takes them back at once, a [Stack] in order, a [Pool] hands out slots of
// one type, named by a [Ref]; [Pages] are mappings. [New], [MakeSlice] and [Append] put values in
// any of them. Package alloc/wrap has wrappers, docs/allocators.md says what is for what.
// [SetBudget] bounds the whole process.
//
// Lifetime: memory is valid from Alloc to Free; a universe ends with Close, and its address range
// then serves other universes and mappings, and nobody else. Memory that has been empty for a
// second goes back to the system when more is freed, or by [Universe.Maintain] and
// [Universe.MaintainEvery] (see [PurgeAfter], [Retain]).
//
// Goroutines: every method of Universe and Heap but Close may be called from any goroutine; Alloc
// and Free take no lock unless memory must be committed or returned. Local, Table, Arena, Stack and
// Pool belong to one goroutine at a time.
//
// Garbage collector: it never looks at this memory, so a value stored in it must hold no Go pointer
// ([layout.PointerFree] says whether a type does). With data here the Go heap is small and
// collected often; [GCFor] makes up for that, and [SetBudget] while memory grows, which also caps
// what a process takes here.
//
// Failure: limits and the operating system give errors that wrap [ErrFull], [ErrCommit]
// ([ErrBudget] beside it), [ErrReserve] or [ErrTooBig], with everything as it was before. A free of
// what is free, a run that leaves its megachunk, and Alloc, Free, Trim and Maintain after Close
// panic with numbers; a closed universe shows no chunks. A second free after the memory went to
// somebody else cannot be told from the first.
//
// Cost: Alloc of a chunk is one compare-and-swap on a cache line that the goroutine's shard has for
// itself, a run is a search by best fit; Free is one compare-and-swap. Memory that is handed out
// again is not cleared, unless [Universe.AllocZeroed] is asked for it. docs/decisions/0009 has
// figures.
package alloc
