package mmap

import (
	"os"
	"unsafe"
)

// memory is one range as its backing handed it out. It belongs to one Region or lies in the park of
// one space, never both (I5).
type memory struct {
	base   unsafe.Pointer // first byte; aligned to traits.align
	size   int            // bytes, a multiple of Granule
	object []byte         // Go object that holds the range; nil where the OS holds it
	block  uintptr        // start of the object or reservation that calls must not reach across; 0: none
	stale  granules       // reserved granules that may not read zero: dropped before they are allowed
	since  uint64         // parked: how many ranges had been parked then, this one included
}

// bytes returns [off, off+n) of the range. The caller must ensure that touching the result is
// allowed, or pass it to the OS untouched.
func (m *memory) bytes(off, n int) []byte {
	// Safe because callers have checked 0 <= off, off+n <= size, and the range
	// [base, base+size) is never unmapped and not moved while m.object is held.
	return unsafe.Slice((*byte)(unsafe.Add(m.base, off)), n)
}

// traits is the facts about a backing that the layers above need.
type traits struct {
	name     string
	align    int       // bytes; every base is a multiple of it
	lazy     bool      // drop is pure cost, so it is left to the next Commit
	most     int       // bytes of all ranges together, parked ones included; 0: any number
	mostRuns int       // runs of equal access that the process can afford; 0: any number
	refused  error     // sentinel of a refused reserve
	guards   GuardKind // how a page inside ready memory is guarded
}

// backing is a source of ranges: the calls of a system, or the Go heap. Its calls are the smallest
// steps that can be refused, so that the order of steps, and the undoing of a failed step, are
// written and tested once for all backings. A failed step may have been done in part. A backing
// that does two steps in one makes the other a no-op.
//
//	step      Linux                    macOS                 Windows           Go heap
//	reserve   mmap PROT_NONE (+)       the same              MEM_RESERVE       make
//	room      getrlimit, statm, mmap   mmap, munmap          reserve, release  -
//	reuse     getrlimit, statm         -                     -                 -
//	allow     mprotect read+write      the same              MEM_COMMIT        -
//	deny      DONTNEED, mprotect none  mprotect none         MEM_DECOMMIT      poison (debug)
//	drop      madvise MADV_DONTNEED    mmap FIXED PROT_NONE  MEM_DECOMMIT      clear
//	discard   madvise MADV_DONTNEED    mmap FIXED            -                 -
//	guard     MADV_GUARD_INSTALL (*)   -                     -                 -
//	unguard   MADV_GUARD_REMOVE (*)    -                     -                 -
//	populate  MADV_POPULATE_WRITE (*)  touch                 touch             touch
//	lock      mlock                    the same              VirtualLock       -
//	hint      madvise                  -                     WipeOnFork only   -
//	fine      madvise                  -                     -                 -
//	advise    madvise                  madvise               -                 -
//	resident  mincore                  -                     -                 -
//	attach    mmap FIXED of the file   the same              -                 -
//	renew     mmap FIXED PROT_NONE     the same              -                 -
//	name      prctl                    -                     -                 -
//	share     getrlimit                -                     -                 -
//	unmap     munmap                   -                     -                 -
//
// (+) only where room for Go is left; so on all but the Go heap.
//
// (*) where the kernel has it. Where GuardKind is not GuardMark, guards are made of deny and drop,
// on pages, and undone by drop and allow. Windows could keep the charge of a guarded page with
// VirtualProtect, but then the page would not read zero after Unguard.
type backing interface {
	traits() traits
	reserve(size int) (memory, error)     // none -> reserved, reads zero once allowed
	room(size int) error                  // nil if a range of that size could be had
	reuse() error                         // nil if Go has room to work with a parked range
	allow(m *memory, off, n int) error    // access; no-op on allowed granules
	deny(m *memory, off, n int) error     // no access; contents may be gone
	drop(m *memory, off, n int) error     // contents gone, memory returned to the system; follows deny
	discard(m *memory, off, n int) error  // contents gone, memory returned, access as before
	guard(m *memory, off, n int) error    // pages fault, contents gone; where GuardMark
	unguard(m *memory, off, n int) error  // marks removed; no-op without marks
	populate(m *memory, off, n int) error // memory backed, contents kept
	lock(m *memory, off, n int) error
	unlock(m *memory, off, n int) error // no-op on memory that is not locked
	hint(m *memory, h Hint, on bool) error
	fine(m *memory, off, n int, on bool) error // small pages for what is touched from now on; off: as the region
	advise(m *memory, off, n int, a Advice) error
	resident(m *memory, off, n int) (bytes int, err error)
	attach(m *memory, off, n int, f *os.File, at int64) error // access to a file's bytes from at on; follows deny
	renew(m *memory, off, n int) error                        // no access, contents gone, also of a file
	name(m *memory, text string)                              // best effort
	share() int                                               // bytes that may stay parked; 0: any number
	unmap(m *memory) error                                    // the range is anybody's; where share is not 0
	mapped() int                                              // mappings that the process has; 0: unknown
	advice(op string, errno error) string                     // what a user can do about a refusal, or ""
}

// plain answers the calls that a backing does not support.
type plain struct{}

func (plain) reuse() error                    { return nil }
func (plain) discard(*memory, int, int) error { return errNoSuch }
func (plain) guard(*memory, int, int) error   { return errNoSuch }
func (plain) unguard(*memory, int, int) error { return errNoSuch }
func (plain) lock(*memory, int, int) error    { return errNoSuch }
func (plain) unlock(*memory, int, int) error  { return errNoSuch }
func (plain) hint(*memory, Hint, bool) error  { return errNoSuch }
func (plain) name(*memory, string)            {}
func (plain) mapped() int                     { return 0 }
func (plain) share() int                      { return 0 }
func (plain) unmap(*memory) error             { return errNoSuch }

func (plain) fine(*memory, int, int, bool) error { return errNoSuch }

func (plain) attach(*memory, int, int, *os.File, int64) error { return errNoSuch }

func (plain) renew(*memory, int, int) error { return errNoSuch }

func (plain) advise(*memory, int, int, Advice) error { return errNoSuch }

func (plain) resident(*memory, int, int) (int, error) { return 0, errNoSuch }

func (plain) populate(m *memory, off, n int) error {
	touch(m, off, n)
	return nil
}
