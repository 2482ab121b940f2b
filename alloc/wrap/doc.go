// Package wrap provides allocators that wrap other allocators. Each takes an [alloc.Allocator],
// adds one feature and is itself an Allocator, so wrappers combine in any order.
//
//   - [Limit] refuses requests that would exceed a number of live bytes
//   - [Stats] counts calls, bytes and sizes, for expvar
//   - [Zero] returns zeroed blocks, and with [Wipe] clears freed ones
//   - [Sampled] samples allocations for a [Profile], which go tool pprof reads
//   - [Track] records who allocated each live block, and who freed the latest freed ones
//   - [Guard] detects accesses out of bounds and after free; a [Monitor] reports those that end the
//     program
//   - [Fail] refuses the requests that a test selects
//   - [Trace] writes a log that can be replayed
//
// What each requests from the next, for 100 bytes aligned to 4:
//
//	program --100 B--> Track --100 B--> Guard --640 B--> Stats --640 B--> Heap
//	                                      |
//	          zone 256 B | slack 28 B | the block 100 B | zone 256 B
//
// (a Guard with [Canaries]; a Guard whose zones fault requests 12,288 B, three pages).
//
// All are Reallocators: alloc.AllocZeroed, Realloc and ReallocZeroed reach the allocator inside.
//
// Lifetime: a wrapper's metadata is in Go memory. It owns no other memory, except that Guard keeps
// freed blocks in quarantine. Free a block through the wrapper that returned it. Call Close of
// Track, Guard and Trace after everything is freed and before closing the allocator inside: it
// reports leaks, damage, and a writer that failed. A wrapper without Close needs none.
//
// Goroutines: the goroutines that may use the allocator inside may use the wrapper: around a Heap
// any goroutine, around an Arena one at a time.
//
// Garbage collector: as in package alloc, a value in a block must hold no Go pointer.
//
// Failure: errors are those of the allocator inside, or wrap a sentinel of package alloc, or
// [ErrDamage]. An invalid free panics with sizes and, in Track and Guard, with the stacks where the
// block was allocated and freed; nothing has changed then. docs/memory.md lists 42 ways to misuse
// memory and what detects each.
//
// Cost: some ns a call for Limit, Stats, Fail and a Profile; 1 us for Track; 11 us for a Guard with
// pages, which cannot serve a million blocks. docs/memory.md has the table.
package wrap
