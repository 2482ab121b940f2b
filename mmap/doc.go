// Package mmap owns address space and pages: it reserves ranges that the
// garbage collector never sees, and backs and unbacks them 2 MiB at a time. It
// knows nothing of what is kept there.
//
// A [Region] is one range. Each of its granules (2 MiB) is in one of two
// states, and only a ready one may be read or written:
//
//	       Reserve              Commit
//	 none --------> reserved -----------> ready
//	                 |    ^                 |
//	                 |    +---- Decommit ---+
//	        Release  v                           none:     no address
//	               parked --> Reserve            reserved: an address, no access, no memory
//	                                             ready:    read and write, zero on first touch
//
//	Reserve(8 MiB), Commit(2 MiB, 4 MiB):
//	 base         +2 MiB       +4 MiB       +6 MiB       +8 MiB
//	  | reserved   | ready      | ready      | reserved   |     Size 8388608, Committed 4194304
//
// Contents. A granule reads zero after Commit, whatever it held before.
// Decommit and Release forfeit contents on entry, also when they fail.
//
// Lifetime. A region lives until Release; nothing releases a region that is
// forgotten. A released range is never given back to the OS, where the next
// mapping of anybody could get it: it is parked without access, so that a stale
// slice faults, until a Reserve of the same size takes it again. [Parked] tells
// how much lies there.
//
// Goroutines. Every function may be called from any goroutine; the transitions
// of one region wait for each other. Who may touch ready memory is the caller's
// business: no other goroutine may use a range while it is decommitted.
//
// Garbage collector. Memory of a region is not scanned: a Go pointer stored
// there keeps nothing alive. Never store one.
//
// Failure. What the OS refuses is an [*Error] and leaves states as they were;
// errors.Is finds [ErrAddressSpace], [ErrMemory] or [ErrAccess]. Arguments that
// are not whole granules, a transition from the wrong state and use after
// Release are broken contracts and panic with the numbers.
//
// Backing. [Real] says where pages come from: the OS on Linux, macOS and
// Windows; one Go object per region on other systems and in race builds, since
// the race detector sees only Go memory. Go objects do not fault, are zeroed at
// Commit, are limited to 4 GiB (1 GiB on wasm and 32-bit systems), and keep
// their memory while reserved or parked. Debug builds fill them with debug.Freed.
//
// Huge pages. On Linux a region asks for 2 MiB pages. QUARRY_HUGEPAGES=off in
// the environment at the first Reserve asks for small pages instead.
//
// Cost. A transition is one to three system calls per run of granules. First
// touch of ready memory dominates. Median of N=12 runs over 64 MiB, go1.26.8,
// Linux 6.18, busy 2-core AMD EPYC, "go test -run '^$' -bench . -count 12 ./mmap":
//
//	first touch, 4 KiB pages      315 us a MiB
//	first touch, 2 MiB pages       36 us a MiB
//	Commit + Decommit, 2 MiB      3.4 us untouched (Go objects, cleared in cache: 15 us)
package mmap
