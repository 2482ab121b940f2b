package mmap

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"quarry/internal/debug"
)

// A region is a range of addresses and one bit per granule:
//
//	granule        0        1        2        3
//	ready          0        1        1        0       bits in Go memory, never in the range
//	stale          0        0        0        1
//	range     | no access | read and write  | no access: contents still there
//	          base        +2 MiB            +6 MiB   +8 MiB = base + size
//
// Stale granules exist where dropping contents at Decommit would be wasted work
// (a Go object would be cleared for nobody) and where the OS refused a step and
// the way back as well. Commit drops them before it gives access, so "reads
// zero" needs no other argument than I3.
//
// Guards are pages without access inside ready granules. They end with the
// granule's Decommit, so a reserved granule has none on the books; marks of the
// kernel outlive deny and drop, so there the granule becomes stale instead.
// Locked granules are those of mlock; what is locked cannot be dropped, so it
// neither is decommitted nor has guards.
//
//	I1  base is not nil and is a multiple of the system's alignment; size is a
//	    positive multiple of Granule.
//	I2  ready and stale have one bit per granule and none beyond.
//	I3  no granule is ready and stale.
//	I4  committed is what counting the bits of ready gives, and runs the runs of
//	    ready and of locked granules and, where guards are mappings, of guards.
//	I5  a range has one owner: nothing of an open region's is parked, and a
//	    released region holds nothing.
//	I6  guards lie in ready granules that are not locked, and their number of
//	    runs is what counting gives.
//	I7  locked granules are ready.
//	I8  the list of tenants has an open region at its base, unless it is a Go object.
//
// Order of steps. Access goes first and comes last: Decommit denies, then drops;
// Commit drops what is stale, then allows. So whatever fails, nobody reads
// contents that were dropped half way, and the way back from a failed deny or
// drop is allow. A mutex is held over the system calls: the kernel has one lock
// per process for them anyway.

// Granule is the unit of Commit and Decommit in bytes: one huge page of systems
// with 4 KiB pages. Smaller units would split huge pages and spend mappings.
const Granule = 2 << 20

// Region is one range of address space. Make one with Reserve.
type Region struct {
	space     *space // where the range came from and is parked
	mu        sync.Mutex
	memory    memory   // the range; zero after Release; base and size are written by Release only
	ready     granules // granules with access; guarded by mu
	committed int      // bytes ready; guarded by mu (I4)
	runs      int      // what the region costs in runs of equal access; guarded by mu (I4)
	guards    pageSet  // pages that fault though their granule is ready; guarded by mu (I6)
	locked    granules // granules kept out of swap; guarded by mu (I7)
	hints     Hint     // those that are on; guarded by mu
	name      string   // label for the OS and for faults; guarded by mu
	asked     int      // bytes that the caller wanted; see Asked; fixed
	refusal   error    // why size is less than asked, or nil; fixed
}

// Base is the address of the first byte: a multiple of Granule where Real, else
// of 64 KiB. It panics after Release, and must not be called at the same time.
func (r *Region) Base() unsafe.Pointer {
	if r.memory.base == nil {
		panicReleased("Base")
	}
	return r.memory.base
}

// Size is the number of bytes of address space, a multiple of Granule; 0 after
// Release, at the time of which it must not be called.
func (r *Region) Size() int { return r.memory.size }

// Asked is the number of bytes that Reserve or ReserveUpTo was asked for,
// rounded up to Granule: more than Size if limits forbade that much.
func (r *Region) Asked() int { return r.asked }

// Refusal is the *Error of the last try that was refused before ReserveUpTo got
// this region, or nil if it got all it asked for.
func (r *Region) Refusal() error { return r.refusal }

// Committed is the number of bytes that are ready now; 0 after Release. It waits
// for a transition that is under way.
func (r *Region) Committed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.committed
}

// Commit makes [off, off+n) ready: it may be read and written, and reads zero.
// off and n are multiples of Granule, n > 0, and the whole range is reserved.
// An error is an *Error that wraps ErrMemory; then all of it is still reserved.
// Where pages are real their memory is spent at first touch, not here.
func (r *Region) Commit(off, n int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.span("Commit", off, n)
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

// Decommit makes [off, off+n) reserved: no access, contents gone, memory back
// with the OS. off and n are multiples of Granule, n > 0, and the whole range is
// ready. An error is an *Error: with ErrMemory all of it is still ready, with
// ErrAccess it is reserved; its contents are lost either way. Guards in it end
// with success and stay where it is still ready. Locked granules must be
// unlocked before.
func (r *Region) Decommit(off, n int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.span("Decommit", off, n)
	if g := r.ready.next(s.lo, s.hi, false); g < s.hi {
		panicState("Decommit", off, n, g, "already reserved")
	}
	if g := r.locked.next(s.lo, s.hi, true); g < s.hi {
		panicState("Decommit", off, n, g, "locked")
	}
	r.ready.clear(s.lo, s.hi)
	guards := r.guards.cut(s)
	if !r.account() { // a hole in a run makes two of one
		r.ready.set(s.lo, s.hi)
		r.guards.paste(guards, s)
		r.accountAlways()
		return r.refuse("Decommit", off, n, ErrMemory, errMappings)
	}
	if sentinel, errno := r.forfeit([]span{s}, guards); errno != nil {
		return r.refuse("Decommit", off, n, sentinel, errno)
	}
	return r.done()
}

// Release ends the region: every ready granule is unlocked and decommitted, hints
// and name are taken back, and the range is parked without access for a later
// Reserve. After an error (an *Error) the region is open, its
// granules are ready as before (those that ErrAccess is about: reserved) with
// their guards, locks and hints may be gone, and Release may be called again.
func (r *Region) Release() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.memory.base == nil {
		panicReleased("Release")
	}
	errno := r.unlockAll()
	if errno == nil {
		errno = r.unhint()
	}
	if errno != nil {
		return r.refuse("Release", 0, r.memory.size, ErrMemory, errno)
	}
	all := r.ready.spans(0, r.memory.size/Granule)
	for _, s := range all {
		r.ready.clear(s.lo, s.hi)
	}
	guards := r.guards.cut(span{0, r.memory.size / Granule})
	if sentinel, errno := r.forfeit(all, guards); errno != nil {
		return r.refuse("Release", 0, r.memory.size, sentinel, errno)
	}
	r.accountAlways()
	if r.name != "" {
		r.space.sys.name(&r.memory, "")
	}
	r.space.retire(r)
	r.memory, r.ready, r.guards, r.locked, r.name = memory{}, nil, pageSet{}, nil, ""
	return r.done()
}

// allow gives access to a span, whose stale granules are dropped first. r.mu is held.
func (r *Region) allow(s span) error {
	sys, m := r.space.sys, &r.memory
	marks := sys.traits().guards == GuardMark
	for _, old := range m.stale.spans(s.lo, s.hi) {
		if marks { // before drop, which then frees the page table and so leaves room for a huge page
			if errno := sys.unguard(m, old.offset(), old.size()); errno != nil {
				return errno
			}
		}
		if errno := sys.drop(m, old.offset(), old.size()); errno != nil {
			return errno
		}
		m.stale.clear(old.lo, old.hi)
	}
	errno := sys.allow(m, s.offset(), s.size())
	if errno == nil {
		return nil
	}
	// Part of the span may be allowed. Whether or not the way back succeeds, a
	// stray write can have reached it, so it counts as stale from here on.
	_ = sys.deny(m, s.offset(), s.size())
	m.stale.set(s.lo, s.hi)
	return errno
}

// forfeit takes access and contents from spans whose ready bits and guards the
// caller has taken out. If a step is refused it allows all spans again, puts
// their guards back and sets their bits; a span where that cannot be done stays
// reserved and becomes stale. The books agree with the bits after a failure.
// r.mu is held.
func (r *Region) forfeit(all []span, guards pageSet) (sentinel, errno error) {
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
		errno = sys.drop(m, s.offset(), s.size())
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
		_ = sys.deny(m, s.offset(), s.size()) // what was allowed of it
		m.stale.set(s.lo, s.hi)
		sentinel = ErrAccess
	}
	r.accountAlways()
	return sentinel, errno
}

// span turns bytes into granules, or panics. r.mu is held.
func (r *Region) span(op string, off, n int) span {
	r.check(op, off, n, Granule)
	return span{off / Granule, (off + n) / Granule}
}

// check panics unless [off, off+n) is a range of whole units inside an open
// region. r.mu is held.
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

// count gives what committed and runs have to be. A guard of no access makes at
// most one run of access more, and so does a locked run. r.mu is held.
func (r *Region) count() (members, runs int) {
	members, runs = r.ready.count()
	_, locks := r.locked.count()
	if r.space.sys.traits().guards == GuardAccess {
		runs += r.guards.runs
	}
	return members, runs + locks
}

// account brings committed and runs up to date with the sets. It reports false,
// and changes nothing, if the process cannot afford the runs. r.mu is held.
func (r *Region) account() bool {
	members, runs := r.count()
	if !r.space.claim(runs - r.runs) {
		return false
	}
	r.committed, r.runs = members*Granule, runs
	return true
}

// accountAlways is account after what has happened already, which is not
// refused. r.mu is held.
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
