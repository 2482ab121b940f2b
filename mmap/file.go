package mmap

import (
	"fmt"
	"os"
)

// Granules that show a file:
//
//	           MapFile                       first write
//	reserved ----------> ready: file's bytes ----------> ready: the page is the process's own
//	    ^                        |
//	    +------- Decommit -------+    fresh pages are mapped over the file's: the next Commit reads zero
//
// Dropping the pages of such a granule would bring the file's bytes back, so it is renewed instead:
// the system maps fresh pages without access over it. The set filed has the granules for which that
// is due: in ready granules, and in stale ones where a step was refused half way.

// MapFile makes [off, off+n) ready with n bytes of a file, which begin at its byte at: pages come
// in when they are first touched, a page that is written becomes the process's own, and the file
// never changes. off, n and at are multiples of Granule, n > 0, and the whole range must be
// reserved. The file must have all of the bytes; it may be closed afterwards. Nobody may cut it
// while it is mapped: a page that it lacks by then faults (see [Guarded] and [FaultFile]), and
// whether bytes that change in the file still show is up to the system.
//
// Such granules can be decommitted like others and read zero when they are committed again. They
// take no guards and no Discard. [Region.Resident] counts their pages that the system has in its
// cache.
//
// An error is an *Error, after which the whole range is reserved: it wraps ErrUnsupported where
// files cannot be mapped at a place (Windows, the Go heap) and in regions with the hints NoDump or
// WipeOnFork, and otherwise ErrMemory. Cost: a system call or two, whatever n.
func (r *Region) MapFile(off, n int, f *os.File, at int64) error {
	if f == nil {
		panic("mmap: MapFile: the file is nil")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.granulesOf("MapFile", off, n)
	if g := r.ready.next(s.lo, s.hi, true); g < s.hi {
		panicState("MapFile", off, n, g, "already ready")
	}
	if at < 0 || at%Granule != 0 {
		panic(fmt.Sprintf("mmap: MapFile: at=%d is not a multiple of %d from 0 on", at, Granule))
	}
	if errno := r.attach(s, f, at); errno != nil {
		return r.refuse("MapFile", off, n, ErrMemory, errno)
	}
	return r.done()
}

// MappedSize returns the number of ready bytes that show a file; 0 after Release.
func (r *Region) MappedSize() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fileBytes()
}

// fileBytes is MappedSize. r.mu is held.
func (r *Region) fileBytes() (bytes int) {
	for _, s := range r.filed.runsIn(0, r.memory.size/Granule) {
		for g := s.lo; g < s.hi; g++ {
			if r.ready.has(g) {
				bytes += Granule
			}
		}
	}
	return bytes
}

// attach is MapFile for a range of reserved granules. r.mu is held.
func (r *Region) attach(s granuleRange, f *os.File, at int64) error {
	if r.hints&^SmallPages != 0 { // a promise about contents, which pages of files cannot keep
		return errNoSuch
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Mode().IsRegular() && info.Size()-at < int64(s.size()) {
		return fmt.Errorf("%w: %s has %d bytes, of which %d from %d on are needed",
			errFileEnds, f.Name(), info.Size(), s.size(), at)
	}
	before := r.filed.part(s.lo, s.hi)
	r.ready.set(s.lo, s.hi)
	r.filed.set(s.lo, s.hi)
	errno := errMappings
	if r.account() {
		if errno = r.space.sys.attach(&r.memory, s.offset(), s.size(), f, at); errno == nil {
			r.memory.stale.clear(s.lo, s.hi)
			r.rehint(s)
			return nil
		}
	}
	r.ready.clear(s.lo, s.hi)
	switch {
	case errno == errMappings || errno == errNoSuch: // nothing was touched
		r.filed.clear(s.lo, s.hi)
		r.filed.paste(before, 0, s.hi-s.lo, s.lo)
	case r.renew(s) != nil:
		r.memory.stale.set(s.lo, s.hi)
	default:
		r.memory.stale.clear(s.lo, s.hi)
	}
	r.accountAlways()
	return errno
}

// renew maps fresh pages without access over a range, whose granules show no file then. r.mu is
// held.
func (r *Region) renew(s granuleRange) error {
	if errno := r.space.sys.renew(&r.memory, s.offset(), s.size()); errno != nil {
		return errno
	}
	r.filed.clear(s.lo, s.hi)
	r.accountAlways()
	r.rehint(s)
	return nil
}

// rehint gives new mappings of a range the hints of the region, best effort. r.mu is held.
func (r *Region) rehint(s granuleRange) {
	sys, m := r.space.sys, &r.memory
	if r.hints&SmallPages != 0 {
		_ = sys.hint(m, SmallPages, true)
	}
	for _, fine := range r.fine.runsIn(s.lo, s.hi) {
		_ = sys.fine(m, fine.offset(), fine.size(), true)
	}
	if r.name != "" {
		sys.name(m, r.name)
	}
}

// erase drops the contents of a denied range: granules that show a file are renewed. r.mu is held.
func (r *Region) erase(s granuleRange) error {
	for lo := s.lo; lo < s.hi; {
		filed := r.filed.has(lo)
		part := granuleRange{lo, r.filed.next(lo, s.hi, !filed)}
		do := r.renew
		if !filed {
			do = func(p granuleRange) error { return r.space.sys.drop(&r.memory, p.offset(), p.size()) }
		}
		if errno := do(part); errno != nil {
			return errno
		}
		lo = part.hi
	}
	return nil
}

// renewStale renews reserved granules that may still show a file, since an undoing was refused.
// r.mu is held.
func (r *Region) renewStale() error {
	for _, s := range r.filed.runsIn(0, r.memory.size/Granule) {
		for g := s.lo; g < s.hi; g++ {
			if r.ready.has(g) {
				continue
			}
			if errno := r.renew(granuleRange{g, g + 1}); errno != nil {
				return errno
			}
			r.memory.stale.clear(g, g+1)
		}
	}
	return nil
}

// showsFile reports whether pages lie in granules that show a file. r.mu is held.
func (r *Region) showsFile(s pageRange) bool {
	per := pagesPerGranule()
	hi := (s.hi + per - 1) / per
	return r.filed.next(s.lo/per, hi, true) < hi
}
