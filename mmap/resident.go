package mmap

import (
	"errors"
	"sync/atomic"
	"unsafe"
)

// Which ready memory the system has backed with pages: Resident reports it, Prefault backs it, Lock
// keeps it backed.

// residentStep is the number of bytes queried or faulted in at a time, with the region's lock held.
const residentStep = 64 << 20

// Resident returns how many bytes of ready memory the system has backed with pages: what was
// touched, with a huge page counted whole. Of granules that show a file it counts the pages that
// the system has in its cache, which this process need not have touched. It is one system call per
// run of granules, about 2 us for each 2 MiB. An error is an *Error that wraps ErrUnsupported where
// the system does not report this (all but Linux), and otherwise ErrMemory.
func (r *Region) Resident() (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.memory.base == nil {
		panicReleased("Resident")
	}
	sum := 0
	for _, s := range r.ready.runsIn(0, r.memory.size/Granule) {
		for off, end := s.offset(), s.offset()+s.size(); off < end; off += residentStep {
			n := min(residentStep, end-off)
			bytes, errno := r.space.sys.resident(&r.memory, off, n)
			if errno != nil {
				return 0, r.refuse("Resident", off, n, ErrMemory, errno)
			}
			sum += bytes
		}
	}
	return sum, r.done()
}

// Prefault backs [off, off+n) with memory now, so that no later touch waits for the kernel. The
// contents stay. off and n are multiples of PageSize, n > 0, and all of the range must be ready and
// not guarded. The race detector sees a write of each page, so no other goroutine should use the
// range meanwhile. Cost: the cost of first touch, slightly less where the kernel handles a whole
// range in one call (Linux 5.14 and later; elsewhere Prefault writes a word of each page). An error
// is an *Error that wraps ErrMemory; part of the range may have been faulted in. Where the kernel
// cannot refuse, running out of memory ends the process.
func (r *Region) Prefault(off, n int) error {
	r.checkOpen("Prefault", off, n)
	for n > 0 {
		step := min(n, residentStep)
		if err := r.prefault(off, step); err != nil {
			return err
		}
		off, n = off+step, n-step
	}
	return nil
}

func (r *Region) checkOpen(op string, off, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.openPages(op, off, n)
}

func (r *Region) prefault(off, n int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.openPages("Prefault", off, n)
	if errno := r.space.sys.populate(&r.memory, off, n); errno != nil {
		return r.refuse("Prefault", off, n, ErrMemory, errno)
	}
	return nil
}

// touch writes a word of each page back to it.
func touch(m *memory, off, n int) {
	b := m.bytes(off, n)
	for i := 0; i < len(b); i += PageSize() {
		// Safe because i is a multiple of the page size below len(b), so the word is aligned and
		// inside ready memory; or-ing nothing keeps its contents, also while another goroutine
		// writes it.
		atomic.OrUint32((*uint32)(unsafe.Pointer(&b[i])), 0)
	}
}

// Lock keeps the granules [off, off+n) in memory, out of swap, and touches all of them. off and n
// are multiples of Granule, n > 0, and all of the range must be ready, not locked and free of
// guards. Locked granules cannot be decommitted before Unlock; Release unlocks. Locks do not nest,
// and a child process does not inherit them. An error is an *Error that wraps ErrMemory (usually
// the limit that "ulimit -l" shows) or, where pages are Go objects, ErrUnsupported; nothing is
// locked then. With ErrAccess, undoing was refused too: the whole range counts as locked until
// Unlock.
func (r *Region) Lock(off, n int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.granulesOf("Lock", off, n)
	r.openPages("Lock", off, n)
	if g := r.locked.next(s.lo, s.hi, true); g < s.hi {
		panicState("Lock", off, n, g, "locked")
	}
	r.locked.set(s.lo, s.hi)
	errno := errMappings
	if r.account() { // a locked range is a mapping of its own
		if errno = r.space.sys.lock(&r.memory, off, n); errno == nil {
			return r.done()
		}
		if r.space.sys.unlock(&r.memory, off, n) != nil && !errors.Is(errno, ErrUnsupported) {
			return r.refuse("Lock", off, n, ErrAccess, errno) // some of it may be locked
		}
	}
	r.locked.clear(s.lo, s.hi)
	r.accountAlways()
	return r.refuse("Lock", off, n, ErrMemory, errno)
}

// Unlock ends Lock for the granules [off, off+n), all of which must be locked. An error is an
// *Error that wraps ErrMemory; then the whole range is still locked, as far as the OS allows.
func (r *Region) Unlock(off, n int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.granulesOf("Unlock", off, n)
	if g := r.locked.next(s.lo, s.hi, false); g < s.hi {
		panicState("Unlock", off, n, g, "not locked")
	}
	if errno := r.unlock(s); errno != nil {
		return r.refuse("Unlock", off, n, ErrMemory, errno)
	}
	return r.done()
}

// unlock unlocks a range of locked granules, or leaves it locked. r.mu is held.
func (r *Region) unlock(s granuleRange) error {
	sys, m := r.space.sys, &r.memory
	r.locked.clear(s.lo, s.hi)
	errno := errMappings
	if r.account() { // a hole splits a run in two
		if errno = sys.unlock(m, s.offset(), s.size()); errno == nil {
			return nil
		}
		_ = sys.lock(m, s.offset(), s.size()) // undo the part that was unlocked
	}
	r.locked.set(s.lo, s.hi)
	r.accountAlways()
	return errno
}

// unlockAll unlocks all locked granules; those unlocked before a refusal stay unlocked. r.mu is
// held.
func (r *Region) unlockAll() error {
	for _, s := range r.locked.runsIn(0, r.memory.size/Granule) {
		if errno := r.unlock(s); errno != nil {
			return errno
		}
	}
	return nil
}
