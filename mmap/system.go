package mmap

import "unsafe"

// memory is one range as its system handed it out. It belongs to one Region or
// lies in the pool of one space, never both (I5).
type memory struct {
	base   unsafe.Pointer // first byte; aligned to traits.align
	size   int            // bytes, a multiple of Granule
	object []byte         // Go object that holds the range; nil where the OS holds it
	stale  granules       // reserved granules that may not read zero: dropped before they are allowed
}

// bytes is [off, off+n) of the range. Who calls it must know that touching the
// result is allowed, or pass it on to the OS untouched.
func (m *memory) bytes(off, n int) []byte {
	// Safe because callers have checked 0 <= off, off+n <= size, and the range
	// [base, base+size) is never unmapped and not moved while m.object is held.
	return unsafe.Slice((*byte)(unsafe.Add(m.base, off)), n)
}

// traits are what the layers above must know of a system.
type traits struct {
	name     string
	align    int   // bytes; every base is a multiple of it
	lazy     bool  // drop is work, not thrift: it is left to the next Commit
	mappings int   // separate ready ranges that the process can afford; 0: any number
	refused  error // sentinel of a refused reserve
}

// system is where ranges come from. Its calls are the smallest steps that can
// be refused, so that the order of steps and the way back from a failed one are
// written, and tested, once for all systems. A step that fails may have been
// done in part. A system that does two steps in one makes the other a no-op.
//
//	step     Linux                    macOS                 Windows           Go heap
//	reserve  mmap PROT_NONE           the same              MEM_RESERVE       make
//	allow    mprotect read+write      the same              MEM_COMMIT        -
//	deny     mprotect none            the same              -                 poison (debug)
//	drop     madvise MADV_DONTNEED    mmap FIXED PROT_NONE  MEM_DECOMMIT      clear
type system interface {
	traits() traits
	reserve(size int) (memory, error)     // none -> reserved, reads zero once allowed
	allow(m *memory, off, n int) error    // access; on what is allowed already, nothing
	deny(m *memory, off, n int) error     // no access, contents kept
	drop(m *memory, off, n int) error     // contents gone, memory back with the system; follows deny
	advice(op string, errno error) string // what a user can do about a refusal, or ""
}
