// Package wrap has allocators around allocators: each takes an [alloc.Allocator], adds one thing to
// it and is one itself, so they stand in any order.
//
//   - [Limit] refuses what would make more bytes live
//   - [Stats] counts calls, bytes and sizes, for expvar
//   - [Zero] hands out zeros, and wipes what is freed when told to
//   - [Sampled] is of a [Profile], which go tool pprof reads
//   - [Track] knows who allocated what is live, and who freed what is not
//   - [Guard] makes touches out of bounds and after free show
//   - [Fail] refuses what a test says
//   - [Trace] writes a log that can be replayed
//
// What one asks of the next, for 100 bytes aligned to 4:
//
//	program --100 B--> Track --100 B--> Guard --640 B--> Stats --640 B--> Heap
//	                                      |
//	          zone 256 B | slack 28 B | the block 100 B | zone 256 B
//
// (a Guard with [Canaries]; one whose zones fault asks for 12,288 B, three pages).
//
// Lifetime: a wrapper owns its books, which are in Go memory, and no memory else but what Guard
// keeps in quarantine. Blocks are freed through the wrapper that gave them. Close of Track, Guard
// and Trace is called when all is freed and before the allocator inside is closed: it tells of
// leaks, of damage, and of a writer that failed. What has no Close needs none.
//
// Goroutines: all may be used by any goroutine that may use the allocator inside. Around a Heap
// that is every one, around an Arena one at a time.
//
// Garbage collector: as in package alloc, a value in a block must hold no Go pointer.
//
// Failure: errors are those of the allocator inside, or wrap a sentinel of package alloc, or
// [ErrDamage]. Frees that are wrong panic with sizes and, in Track and Guard, with the stacks of
// where the block was allocated and freed; nothing has changed then. docs/misuse.md says for 42
// ways to misuse memory what notices them.
//
// Cost: some ns a call for Limit, Stats, Fail and a Profile's; 1 us for Track, and 11 us for a
// Guard with pages, of which a million blocks are too many. docs/allocators.md has the table.
package wrap
