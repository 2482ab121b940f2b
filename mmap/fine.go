package mmap

// Small pages for single granules of a region that has huge ones:
//
//	granule         0             1             2
//	fine            1             0             0
//	pages     | 4 KiB each | one of 2 MiB | one of 2 MiB |   taken at first touch
//
// A granule of which little will be used takes little memory that way: Prefault backs the parts
// that are used, each by one call. When more is used the granule ceases to be fine. Pages that were
// touched by then stay small until the system joins them (Linux does so by itself, in the
// background, where that is switched on), or [Region.Advise] does with Collapse.

// Fine switches small pages for the granule at off, a multiple of [Granule], on or off: it decides
// about pages that are touched from then on. It may be called in any state of the granule, holds
// through Commit and Decommit, and ends with Release. A run of fine granules costs the process a
// mapping. Cost: a system call, about 2 us. An error is an *Error that wraps ErrUnsupported where
// the system lacks this or where all pages of the region are small already, and otherwise
// ErrMemory; then nothing has changed, and callers may ignore it.
func (r *Region) Fine(off int, on bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.granulesOf("Fine", off, Granule).lo
	if on == r.fine.has(g) {
		return nil
	}
	errno := errNoSuch
	if r.hints&SmallPages == 0 {
		errno = r.setFine(g, on)
	}
	if errno != nil {
		return r.refuse("Fine", off, Granule, ErrMemory, errno)
	}
	return r.done()
}

// FineSize returns the number of bytes of fine granules; 0 after Release.
func (r *Region) FineSize() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	members, _ := r.fine.count()
	return members * Granule
}

// setFine is Fine for a granule that changes. r.mu is held.
func (r *Region) setFine(g int, on bool) error {
	r.markFine(g, on)
	errno := errMappings
	if r.account() { // a fine run is a mapping of its own
		if errno = r.space.sys.fine(&r.memory, g*Granule, Granule, on); errno == nil {
			return nil
		}
		_ = r.space.sys.fine(&r.memory, g*Granule, Granule, !on) // undo the part that was changed
	}
	r.markFine(g, !on)
	r.accountAlways()
	return errno
}

func (r *Region) markFine(g int, on bool) {
	if on {
		r.fine.set(g, g+1)
	} else {
		r.fine.clear(g, g+1)
	}
}

// coarsenAll makes no granule fine; those that were changed before a refusal stay changed. r.mu is
// held.
func (r *Region) coarsenAll() error {
	for g, end := 0, r.memory.size/Granule; ; g++ {
		if g = r.fine.next(g, end, true); g == end {
			return nil
		}
		if errno := r.setFine(g, false); errno != nil {
			return errno
		}
	}
}
