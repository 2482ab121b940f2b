package mmap

import "errors"

// Lock keeps the granules [off, off+n) in memory: they are not written to swap.
// It touches all of them. off and n are multiples of Granule, n > 0; all of it
// is ready, not locked and free of guards. Locked granules cannot be decommitted
// before Unlock; Release unlocks. Locks do not nest and are not inherited by a
// child process. An error is an *Error that wraps ErrMemory (usually the limit
// that "ulimit -l" shows) or, where pages are Go objects, ErrUnsupported;
// nothing is locked then. With ErrAccess the way back was refused too: all of
// it counts as locked until Unlock.
func (r *Region) Lock(off, n int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.span("Lock", off, n)
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

// Unlock ends Lock for the granules [off, off+n), all of them locked. An error
// is an *Error that wraps ErrMemory; then all of it is still locked, as far as
// the OS lets it.
func (r *Region) Unlock(off, n int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.span("Unlock", off, n)
	if g := r.locked.next(s.lo, s.hi, false); g < s.hi {
		panicState("Unlock", off, n, g, "not locked")
	}
	if errno := r.unlock(s); errno != nil {
		return r.refuse("Unlock", off, n, ErrMemory, errno)
	}
	return r.done()
}

// unlock unlocks a span of locked granules, or leaves it locked. r.mu is held.
func (r *Region) unlock(s span) error {
	sys, m := r.space.sys, &r.memory
	r.locked.clear(s.lo, s.hi)
	errno := errMappings
	if r.account() { // a hole in a run makes two of one
		if errno = sys.unlock(m, s.offset(), s.size()); errno == nil {
			return nil
		}
		_ = sys.lock(m, s.offset(), s.size()) // what was unlocked of it
	}
	r.locked.set(s.lo, s.hi)
	r.accountAlways()
	return errno
}

// unlockAll unlocks what is locked; what came before a refusal stays unlocked. r.mu is held.
func (r *Region) unlockAll() error {
	for _, s := range r.locked.spans(0, r.memory.size/Granule) {
		if errno := r.unlock(s); errno != nil {
			return errno
		}
	}
	return nil
}
