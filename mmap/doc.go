// Package mmap owns address space and pages: it reserves ranges that the garbage collector never
// sees, and backs and unbacks them 2 MiB at a time. It knows nothing of what is kept there.
//
// A [Region] is one range. Each of its granules (2 MiB) is in one of two states, and only a ready
// one may be read or written:
//
//	       Reserve              Commit
//	 none --------> reserved -----------> ready ------+   none:     no address
//	                 |    ^                 | ^ Guard |   reserved: an address, no access, no memory
//	                 |    +---- Decommit ---+ |       v   ready:    read and write, zero on first touch
//	        Release  v                        +- guarded  guarded:  pages of a ready granule that fault
//	               parked --> Reserve        Unguard      parked:   an address, no access, no owner
//
//	Reserve(8 MiB), Commit(2 MiB, 4 MiB):
//	 base         +2 MiB       +4 MiB       +6 MiB       +8 MiB
//	  | reserved   | ready      | ready      | reserved   |     Size 8388608, Committed 4194304
//
// Contents. A granule reads zero after Commit, a page after Unguard. Decommit, Guard and Release
// forfeit contents on entry, also when they fail.
//
// Lifetime. A region lives until Release; nothing releases a region that is forgotten. A released
// range is never given back to the OS, where the next mapping of anybody could get it: it is
// parked, and a stale slice faults, until a Reserve of any size carves its own from it, before it
// asks the OS ([Parked] tells how much there is). Ranges that fit alike are taken in turn, so that
// each faults for long. Then a stale slice faults still where the new region is reserved or
// guarded; what that has made ready, the slice reads and writes unseen.
//
// Goroutines. Every function may be called from any goroutine; the transitions of one region wait
// for each other. The caller sees to it that no goroutine uses memory that another one decommits or
// guards. [Guarded] turns faults of the calling goroutine into errors, and no other's.
//
// Garbage collector. Never store a Go pointer in a region: it is not scanned.
//
// Failure. What the OS refuses is an [*Error] and leaves states as they were; errors.Is finds
// [ErrAddressSpace], [ErrMemory], [ErrAccess] or [ErrUnsupported]. ErrAddressSpace comes while the
// Go runtime has room to go on: see [Reserve]. On Linux ready ranges, locks and guards that are
// mappings stop at a quarter of vm.max_map_count, since the Go runtime dies at the whole. Arguments
// that are not whole units, transitions from a wrong state and use after Release panic.
//
// Backing. [Real]: pages of the OS (Linux, macOS, Windows); else, and in race builds, Go objects, a
// region in one: no faults, no guards ([Guards] tells), at most 4 GiB (on wasm 1 GiB, all
// together), zeroed at Commit, memory kept while reserved, or parked until a larger one is wanted,
// filled with debug.Freed in debug builds. In the environment at first use: QUARRY_HUGEPAGES=off
// (no 2 MiB pages), QUARRY_GUARDS=access (no marks).
//
// Cost. A transition is one to three system calls per run; first touch dominates. Least of N=12 or
// more, go1.26.8, Linux 6.18, a busy 2-core AMD EPYC, "go test -bench .":
//
//	first touch, 4 KiB / 2 MiB pages    323 / 38 us a MiB; by Prefault 288 / 36
//	Commit + Decommit, 2 MiB            3.6 us untouched (Go objects, cleared in cache: 15 us)
//	Guard, Unguard of one page          1.1, 1.5 us as marks; 9.5, 4.0 us as mappings
//	Guarded                             7 ns; with a fault 2.6 us
package mmap
