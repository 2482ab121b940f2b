// Package mmap manages address space and pages. It reserves ranges that the garbage collector never
// sees, and commits and decommits them in units of 2 MiB. It knows nothing about their contents.
//
// A [Region] is one range. Each of its granules (2 MiB) is in one of two states, reserved or ready;
// only a ready granule may be read or written:
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
// Files. On Linux and macOS [Region.MapFile] makes granules ready that show a file's bytes. Pages
// come in when they are touched; the file does not change.
//
// Contents. A granule reads zero after Commit, a page after Unguard. Decommit, Guard and Release
// lose the contents on entry, even when they fail.
//
// Lifetime. A region lives until Release; no finalizer releases it. A released range is not
// returned to the OS, where any later mapping could get it. Instead it is parked, and a stale slice
// faults. Only where addresses are limited ("ulimit -v"), a quarter of the limit may be parked, and
// the range parked longest goes back to the OS, for the Go runtime dies where it gets no addresses.
// A later Reserve of any size carves its range from parked ones before it calls the OS ([Parked]
// reports how much is parked). Ranges that fit equally well are taken in turn, so that each faults
// for as long as possible. Once a range is reused, a stale slice faults only where the new region
// is reserved or guarded; where that region is ready, the slice reads and writes undetected.
//
// Goroutines. Every function may be called from any goroutine; the transitions of one region
// exclude each other. The caller ensures that no goroutine uses memory that another decommits or
// guards. [Guarded] turns faults of the calling goroutine, and only those, into errors.
//
// Garbage collector. Never store a Go pointer in a region: a region is not scanned.
//
// Failure. A refusal by the OS is an [*Error] and leaves states unchanged; it wraps
// [ErrAddressSpace], [ErrMemory], [ErrAccess] or [ErrUnsupported]. ErrAddressSpace is returned
// while the Go runtime still has room to continue: see [Reserve]. On Linux ready ranges, locks, and
// guards that are mappings are limited to a quarter of vm.max_map_count, since the Go runtime dies
// at the full count. Arguments that are not whole units, transitions from a wrong state, and use
// after Release panic.
//
// Page size. On Linux regions request pages of 2 MiB, which are resident as a whole. [Region.Fine]
// requests small ones, granule by granule, and the hint [SmallPages] for a whole region.
//
// Backing. Where [Real] is true, pages come from the OS (Linux, macOS, Windows). Elsewhere, and in
// race builds, each region lies in one Go object: no faults, no guards (see [Guards]), at most 4
// GiB (on wasm 1 GiB in total), and zeroed at Commit. Such memory is kept while it is reserved, or
// parked until a larger object is wanted; debug builds fill it with debug.Freed. Environment
// variables, read at first use: QUARRY_HUGEPAGES=off (no 2 MiB pages), QUARRY_GUARDS=access (no
// marks).
//
// Cost. A transition is one to three system calls per run; first touch dominates. Least of N=12 or
// more, go1.26.8, Linux 6.18, a busy 2-core AMD EPYC, "go test -bench .":
//
//	first touch, 4 KiB / 2 MiB pages    323 / 38 us a MiB; by Prefault 288 / 36
//	Commit + Decommit, 2 MiB            3.6 us untouched (Go objects, cleared in cache: 15 us)
//	Guard, Unguard of one page          1.1, 1.5 us as marks; 9.5, 4.0 us as mappings
//	Guarded                             7 ns; with a fault 2.6 us
package mmap
