package mmap

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"quarry/internal/debug"
)

// A region is a range of addresses and one bit per granule. Here it changes granules; space.go
// reserves the range, and parks it again:
//
//	granule        0        1        2        3
//	ready          0        1        1        0       bits in Go memory, never in the range
//	stale          0        0        0        1
//	range     | no access | read and write  | no access: contents still there
//	          base        +2 MiB            +6 MiB   +8 MiB = base + size
//
// Stale granules exist where dropping contents at Decommit would be wasted work (a Go object would
// be cleared for no one), where the kernel keeps marks of guards, where the OS refused a step of
// Commit or MapFile, and where it refused both a step of Decommit and its undoing. Commit drops
// them before it gives access, so I3 alone implies "reads zero".
//
// Guards are pages without access inside ready granules. They end with the granule's Decommit, so
// the records of a reserved granule have none. Kernel marks outlive deny and drop; there the
// granule becomes stale instead. Locked granules are locked by mlock. Locked memory cannot be
// dropped, so a locked granule can neither be decommitted nor have guards. Fine granules have small
// pages, whatever their state; they are mappings of their own.
//
//	I1  base is not nil and is a multiple of the backing's alignment; size is a
//	    positive multiple of Granule.
//	I2  ready and stale have one bit per granule and none beyond.
//	I3  no granule is ready and stale.
//	I4  committed is the count of the bits of ready, and runs the runs of ready
//	    and of locked, fine and filed granules and, where guards are mappings, of
//	    guards.
//	I5  a range has one owner: no part of an open region is parked, and a
//	    released region holds nothing.
//	I6  guards lie in ready granules that are not locked, and the number of
//	    their runs is counted right.
//	I7  locked granules are ready.
//	I8  the list of tenants has an open region at its base, unless it is a Go object.
//	I9  there are no fine granules while the hint SmallPages is on.
//	I10 filed granules are ready or stale, and have no guards; there are none while
//	    the hints NoDump or WipeOnFork are on.
//
// Order of steps. Access is removed first and given last: Decommit denies, then drops; Commit drops
// what is stale, then allows. So whatever fails, no one reads half-dropped contents, and allow
// undoes a failed deny or drop. (On Linux deny drops pages too, which is for speed: until access is
// gone, a stray write may bring one back.) A mutex is held over the system calls: the kernel has
// one lock per process for them anyway.

// Granule is the unit of Commit and Decommit in bytes: one huge page on systems with 4 KiB pages.
// Smaller units would split huge pages and use up mappings.
const Granule = 2 << 20

// Region is one range of address space. Use Reserve to make one.
type Region struct {
	space     *space // where the range came from and will be parked
	mu        sync.Mutex
	memory    memory   // the range; zero after Release; only Release writes base and size
	ready     granules // granules with access; guarded by mu
	committed int      // bytes ready; guarded by mu (I4)
	runs      int      // cost of the region in runs of equal access; guarded by mu (I4)
	guards    pageSet  // pages that fault although their granule is ready; guarded by mu (I6)
	locked    granules // granules kept out of swap; guarded by mu (I7)
	fine      granules // granules with small pages, written by Fine; guarded by mu (I9)
	filed     granules // granules that may show a file, written by MapFile; guarded by mu (I10)
	hints     Hint     // hints that are on; guarded by mu
	name      string   // label for the OS and for faults; guarded by mu
	asked     int      // bytes requested; see Asked; fixed
	refusal   error    // why size is less than requested, or nil; fixed
}

// Base returns the address of the first byte: a multiple of Granule where Real, otherwise of 64
// KiB. It panics after Release, and must not be called concurrently with Release.
func (r *Region) Base() unsafe.Pointer {
	if r.memory.base == nil {
		panicReleased("Base")
	}
	return r.memory.base
}

// Size returns the number of bytes of address space, a multiple of Granule; 0 after Release. It
// must not be called concurrently with Release.
func (r *Region) Size() int { return r.memory.size }

// Asked returns the number of bytes requested from Reserve or ReserveUpTo, rounded up to Granule.
// It exceeds Size if limits did not allow that much.
func (r *Region) Asked() int { return r.asked }

// Refusal returns the *Error of the last attempt that was refused before ReserveUpTo got this
// region, or nil if the region has the requested size.
func (r *Region) Refusal() error { return r.refusal }

// Committed returns the number of bytes that are ready now; 0 after Release. It waits for a
// transition that is under way.
func (r *Region) Committed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.committed
}

// Commit makes [off, off+n) ready: it may be read and written, and reads zero. off and n are
// multiples of Granule, n > 0, and the whole range must be reserved. An error is an *Error that
// wraps ErrMemory; then the whole range is still reserved. Where pages are real their memory is
// spent at first touch, not here.
func (r *Region) Commit(off, n int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.granulesOf("Commit", off, n)
	if g := r.ready.next(s.lo, s.hi, true); g < s.hi {
		panicState("Commit", off, n, g, "already ready")
	}
	r.ready.set(s.lo, s.hi)
	errno := errMappings
	if r.account() {
		errno = r.allow(s)
	}
	if errno != nil {
		r.ready.clear(s.lo, s.hi)
		r.accountAlways()
		return r.refuse("Commit", off, n, ErrMemory, errno)
	}
	return r.done()
}

// Decommit makes [off, off+n) reserved: no access, contents lost, memory returned to the OS. off
// and n are multiples of Granule, n > 0, and the whole range must be ready and not locked. An error
// is an *Error: with ErrMemory the whole range is still ready, with ErrAccess it is reserved; its
// contents are lost either way. Guards in the range are removed when Decommit succeeds, and stay
// where the range is still ready.
func (r *Region) Decommit(off, n int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.granulesOf("Decommit", off, n)
	if g := r.ready.next(s.lo, s.hi, false); g < s.hi {
		panicState("Decommit", off, n, g, "already reserved")
	}
	if g := r.locked.next(s.lo, s.hi, true); g < s.hi {
		panicState("Decommit", off, n, g, "locked")
	}
	r.ready.clear(s.lo, s.hi)
	guards := r.guards.cut(s)
	if !r.account() { // a hole splits a run in two
		r.ready.set(s.lo, s.hi)
		r.guards.paste(guards, s)
		r.accountAlways()
		return r.refuse("Decommit", off, n, ErrMemory, errMappings)
	}
	if sentinel, errno := r.forfeit([]granuleRange{s}, guards); errno != nil {
		return r.refuse("Decommit", off, n, sentinel, errno)
	}
	return r.done()
}

// Release ends the region. Every ready granule is unlocked and decommitted, hints and name are
// removed, no granule is fine any more, and the range is parked without access for a later Reserve.
// After an error, which is an *Error, the region is open and its granules are ready as before with
// their guards (granules concerned by ErrAccess are reserved); locks, hints and small pages may be
// gone, and Release may be called again.
func (r *Region) Release() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.memory.base == nil {
		panicReleased("Release")
	}
	errno := r.unlockAll()
	if errno == nil {
		errno = r.coarsenAll()
	}
	if errno == nil {
		errno = r.unhint()
	}
	if errno == nil {
		errno = r.renewStale()
	}
	if errno != nil {
		return r.refuse("Release", 0, r.memory.size, ErrMemory, errno)
	}
	all := r.ready.runsIn(0, r.memory.size/Granule)
	for _, s := range all {
		r.ready.clear(s.lo, s.hi)
	}
	guards := r.guards.cut(granuleRange{0, r.memory.size / Granule})
	if sentinel, errno := r.forfeit(all, guards); errno != nil {
		return r.refuse("Release", 0, r.memory.size, sentinel, errno)
	}
	r.accountAlways()
	if r.name != "" {
		r.space.sys.name(&r.memory, "")
	}
	r.space.retire(r)
	r.memory, r.ready, r.guards, r.locked, r.fine, r.filed, r.name = memory{}, nil, pageSet{}, nil, nil, nil, ""
	return r.done()
}

// allow gives access to a range, after it has dropped the range's stale granules. r.mu is held.
func (r *Region) allow(s granuleRange) error {
	sys, m := r.space.sys, &r.memory
	marks := sys.traits().guards == GuardMark
	for _, old := range m.stale.runsIn(s.lo, s.hi) {
		if marks { // before drop, which then frees the page table and so leaves room for a huge page
			if errno := sys.unguard(m, old.offset(), old.size()); errno != nil {
				return errno
			}
		}
		if errno := r.erase(old); errno != nil {
			return errno
		}
		m.stale.clear(old.lo, old.hi)
	}
	errno := sys.allow(m, s.offset(), s.size())
	if errno == nil {
		return nil
	}
	// Part of the range may be allowed. Whether or not undoing succeeds, a stray write can have
	// reached it, so it counts as stale from here on.
	_ = sys.deny(m, s.offset(), s.size())
	m.stale.set(s.lo, s.hi)
	return errno
}

// forfeit removes access and contents from ranges whose ready bits and guards the caller has
// removed. If a step is refused, it allows all ranges again, restores their guards and sets their
// bits; a range where that is refused stays reserved and becomes stale. After a failure the records
// agree with the bits. r.mu is held.
func (r *Region) forfeit(all []granuleRange, guards pageSet) (sentinel, errno error) {
	sys, m := r.space.sys, &r.memory
	lazy, marks := sys.traits().lazy, sys.traits().guards == GuardMark
	for _, s := range all {
		if errno = sys.deny(m, s.offset(), s.size()); errno != nil {
			break
		}
	}
	for _, s := range all {
		if errno != nil || lazy {
			break
		}
		errno = r.erase(s)
	}
	if errno == nil {
		for _, s := range all {
			for g := s.lo; g < s.hi; g++ {
				if lazy || marks && guards.bits[g] != nil {
					m.stale.set(g, g+1)
				}
			}
		}
		return nil, nil
	}
	sentinel = ErrMemory
	for _, s := range all {
		if sys.allow(m, s.offset(), s.size()) == nil && r.refence(s, guards) == nil {
			r.ready.set(s.lo, s.hi)
			r.guards.paste(guards, s)
			continue
		}
		_ = sys.deny(m, s.offset(), s.size()) // undo the part that was allowed
		m.stale.set(s.lo, s.hi)
		sentinel = ErrAccess
	}
	r.accountAlways()
	return sentinel, errno
}

// granulesOf converts bytes into granules; it panics when the range is invalid. r.mu is held.
func (r *Region) granulesOf(op string, off, n int) granuleRange {
	r.check(op, off, n, Granule)
	return granuleRange{off / Granule, (off + n) / Granule}
}

// check panics unless [off, off+n) is a range of whole units inside an open region. r.mu is held.
func (r *Region) check(op string, off, n, unit int) {
	size := r.memory.size
	switch {
	case r.memory.base == nil:
		panicReleased(op)
	case off < 0 || off%unit != 0:
		panic(fmt.Sprintf("mmap: %s: off=%d is not a multiple of %d from 0 on", op, off, unit))
	case n <= 0 || n%unit != 0:
		panic(fmt.Sprintf("mmap: %s: n=%d is not a positive multiple of %d", op, n, unit))
	case off > size || n > size-off:
		panic(fmt.Sprintf("mmap: %s: off=%d n=%d ends behind the region, whose size is %d", op, off, n, size))
	}
}

// count returns the values that committed and runs must have. A guard without access adds at most
// one run of access, and so does a locked, a fine or a filed run. r.mu is held.
func (r *Region) count() (members, runs int) {
	members, runs = r.ready.count()
	_, locks := r.locked.count()
	_, fine := r.fine.count()
	_, filed := r.filed.count()
	if r.space.sys.traits().guards == GuardAccess {
		runs += r.guards.runs
	}
	return members, runs + locks + fine + filed
}

// account brings committed and runs up to date with the sets. It returns false, and changes
// nothing, if the process cannot afford the runs. r.mu is held.
func (r *Region) account() bool {
	members, runs := r.count()
	if !r.space.claim(runs - r.runs) {
		return false
	}
	r.committed, r.runs = members*Granule, runs
	return true
}

// accountAlways is account after an irrevocable change, so it never refuses. r.mu is held.
func (r *Region) accountAlways() {
	members, runs := r.count()
	r.space.settle(runs - r.runs)
	r.committed, r.runs = members*Granule, runs
}

func (r *Region) refuse(op string, off, n int, sentinel, errno error) error {
	_ = r.done()
	if errors.Is(errno, ErrUnsupported) {
		sentinel = ErrUnsupported
	}
	return &Error{Op: op, Offset: off, Size: n, Err: sentinel, Errno: errno, advice: r.space.sys.advice(op, errno)}
}

// done ends a transition; debug builds verify the region. r.mu is held.
func (r *Region) done() error {
	if debug.On {
		if err := r.verify(); err != nil {
			panic(err.Error())
		}
	}
	return nil
}

func panicReleased(op string) {
	panic("mmap: " + op + ": the region has been released")
}

func panicState(op string, off, n, g int, state string) {
	panic(fmt.Sprintf("mmap: %s: off=%d n=%d: granule %d, at offset %d, is %s", op, off, n, g, g*Granule, state))
}
