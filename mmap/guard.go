package mmap

import "fmt"

// GuardKind is the method by which this process guards pages.
type GuardKind uint8

const (
	// GuardNone: regions are Go objects and cannot be guarded.
	GuardNone GuardKind = iota

	// GuardAccess: a guarded page has no access, which splits the mapping of the ready range around
	// it. Guards count against a budget of mappings (on Linux a quarter of vm.max_map_count, shared
	// with the ready ranges).
	GuardAccess

	// GuardMark: the kernel marks single pages (Linux 6.13 and later). Marks use no mappings, so
	// their number is not limited.
	GuardMark
)

var guardKinds = [...]string{"none", "access", "mark"}

// String returns "none", "access" or "mark".
func (k GuardKind) String() string {
	if int(k) < len(guardKinds) {
		return guardKinds[k]
	}
	return fmt.Sprintf("GuardKind(%d)", uint8(k))
}

// Guards returns how [Region.Guard] guards pages in this process. The first call, like the first
// Reserve, tests the kernel. QUARRY_GUARDS=access in the environment makes Linux do without marks.
func Guards() GuardKind { return process().sys.traits().guards }

// Guard makes accesses to the pages [off, off+n) fault until Unguard, or Decommit of their granule.
// off and n are multiples of [PageSize], n > 0; all of the range must be ready, not guarded and in
// no locked granule. Its contents are lost on entry. A guard costs its granule the huge page. An
// error is an *Error. It wraps ErrUnsupported where Guards is GuardNone and where a file is mapped;
// ErrMemory when the OS, or the budget of mappings, refuses, and then nothing is guarded; or
// ErrAccess when undoing was refused too: then the whole range counts as guarded, and Unguard tries
// again. Cost: one system call (GuardMark) or two.
func (r *Region) Guard(off, n int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.readyPages("Guard", off, n)
	if p := r.guards.next(s.lo, s.hi, true); p < s.hi {
		panicPage("Guard", off, n, p, "already guarded")
	}
	per := pagesPerGranule()
	if g, hi := s.lo/per, (s.hi+per-1)/per; r.locked.next(g, hi, true) < hi {
		panicState("Guard", off, n, r.locked.next(g, hi, true), "locked")
	}
	if r.space.sys.traits().guards == GuardNone {
		return r.refuse("Guard", off, n, ErrUnsupported, errNoGuards)
	}
	if r.showsFile(s) {
		return r.refuse("Guard", off, n, ErrUnsupported, errOfFile)
	}
	r.guards.add(s.lo, s.hi)
	if !r.account() {
		r.guards.remove(s.lo, s.hi)
		r.accountAlways()
		return r.refuse("Guard", off, n, ErrMemory, errMappings)
	}
	if t := r.space.sys.traits(); t.guards == GuardAccess && t.mostRuns > 0 {
		// Once touched, the mapping that is split here merges again at Unguard (measured: otherwise
		// 20 guards left 19 mappings of one run).
		touch(&r.memory, off, PageSize())
	}
	errno := r.fence(s)
	if errno == nil {
		return r.done()
	}
	if r.open(s) != nil { // some of it may fault, so all of it stays guarded
		return r.refuse("Guard", off, n, ErrAccess, errno)
	}
	r.guards.remove(s.lo, s.hi)
	r.accountAlways()
	return r.refuse("Guard", off, n, ErrMemory, errno)
}

// Unguard makes guarded pages ready again; they read zero. off and n are multiples of PageSize, n >
// 0, and all of the range must be guarded, by one Guard or several. An error is an *Error that
// wraps ErrMemory; then the whole range is still guarded. Cost: two system calls.
func (r *Region) Unguard(off, n int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.readyPages("Unguard", off, n)
	if p := r.guards.next(s.lo, s.hi, false); p < s.hi {
		panicPage("Unguard", off, n, p, "not guarded")
	}
	r.guards.remove(s.lo, s.hi)
	errno := errMappings
	if r.account() { // a hole splits a run of guards in two
		errno = r.unfence(s)
	}
	if errno == nil {
		return r.done()
	}
	if errno != errMappings {
		_ = r.fence(s) // undo the part that was let through
	}
	r.guards.add(s.lo, s.hi)
	r.accountAlways()
	return r.refuse("Unguard", off, n, ErrMemory, errno)
}

// GuardedSize returns the number of guarded bytes; 0 after Release. It waits for a transition that
// is under way.
func (r *Region) GuardedSize() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	pages := 0
	for _, set := range r.guards.bits {
		members, _ := set.count()
		pages += members
	}
	return pages * PageSize()
}

// fence makes ready pages fault; their contents may be lost. r.mu is held.
func (r *Region) fence(s pageRange) error {
	sys, m := r.space.sys, &r.memory
	if sys.traits().guards == GuardMark {
		return sys.guard(m, s.offset(), s.size())
	}
	if errno := sys.deny(m, s.offset(), s.size()); errno != nil {
		return errno
	}
	return sys.drop(m, s.offset(), s.size())
}

// unfence makes pages accessible and zero. It drops before it gives access, so it need not know how
// far a refused fence got. r.mu is held.
func (r *Region) unfence(s pageRange) error {
	sys, m := r.space.sys, &r.memory
	if errno := sys.drop(m, s.offset(), s.size()); errno != nil {
		return errno
	}
	return r.open(s)
}

// open makes pages accessible, with whatever contents. r.mu is held.
func (r *Region) open(s pageRange) error {
	sys, m := r.space.sys, &r.memory
	if sys.traits().guards == GuardMark {
		return sys.unguard(m, s.offset(), s.size())
	}
	return sys.allow(m, s.offset(), s.size())
}

// refence restores the guards that giving access to a range removed. r.mu is held.
func (r *Region) refence(s granuleRange, guards pageSet) error {
	if r.space.sys.traits().guards == GuardMark {
		return nil // marks outlive deny and drop
	}
	if len(guards.bits) == 0 {
		return nil
	}
	all := s.pages()
	for _, p := range guards.runsIn(all.lo, all.hi) {
		if errno := r.fence(p); errno != nil {
			return errno
		}
	}
	return nil
}

// readyPages converts bytes of ready granules into pages; it panics when they are not. r.mu is
// held.
func (r *Region) readyPages(op string, off, n int) pageRange {
	r.check(op, off, n, PageSize())
	lo, hi := off/Granule, (off+n+Granule-1)/Granule
	if g := r.ready.next(lo, hi, false); g < hi {
		panicState(op, off, n, g, "reserved")
	}
	return pageRange{off / PageSize(), (off + n) / PageSize()}
}

// openPages is readyPages for pages that must not be guarded. r.mu is held.
func (r *Region) openPages(op string, off, n int) pageRange {
	s := r.readyPages(op, off, n)
	if p := r.guards.next(s.lo, s.hi, true); p < s.hi {
		panicPage(op, off, n, p, "guarded")
	}
	return s
}

func panicPage(op string, off, n, p int, state string) {
	panic(fmt.Sprintf("mmap: %s: off=%d n=%d: the page at offset %d is %s", op, off, n, p*PageSize(), state))
}
