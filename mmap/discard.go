package mmap

// Discard gives the memory of [off, off+n) back to the system. The range stays ready and reads
// zero. off and n are multiples of PageSize, n > 0, and all of the range must be ready, not guarded
// and in no locked granule. No other goroutine may use the range meanwhile. A huge page of which a
// part is discarded is split: the process no longer counts that part as resident, and Linux reuses
// it when memory is short or when the rest of the page is given back.
//
// An error is an *Error that wraps ErrUnsupported where the system cannot give back parts (Windows,
// whose pages would lose their access; the Go heap; pages of a file, whose bytes would come back),
// and otherwise ErrMemory. Part of the range may
// have been discarded then; the rest has its contents. Cost: one system call, 1 us and 0.1 us for
// each page that was resident, and the first touch of a page that is used again.
func (r *Region) Discard(off, n int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.openPages("Discard", off, n)
	per := pagesPerGranule()
	if g, hi := s.lo/per, (s.hi+per-1)/per; r.locked.next(g, hi, true) < hi {
		panicState("Discard", off, n, r.locked.next(g, hi, true), "locked")
	}
	if r.showsFile(s) {
		return r.refuse("Discard", off, n, ErrUnsupported, errOfFile)
	}
	if errno := r.space.sys.discard(&r.memory, off, n); errno != nil {
		return r.refuse("Discard", off, n, ErrMemory, errno)
	}
	return r.done()
}
