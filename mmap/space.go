package mmap

import (
	"fmt"
	"math"
	"runtime"
	"sync"
)

// space is a system and the ranges of it. The process has one; tests make others,
// with systems that fail.
type space struct {
	sys     system
	fresh   sync.Mutex // held over a reservation of the system's, so that no two see the same room
	mu      sync.Mutex
	parked  park    // ranges that no region owns; guarded by mu
	held    int     // bytes of the ranges of regions and of those parked; guarded by mu
	tenants tenants // open regions; guarded by mu
	runs    int     // runs of equal access in all open regions; guarded by mu
	grown   int     // runs claimed since the kernel's count was looked at; guarded by mu
	vain    vain    // the last collection that made no room for Go; guarded by mu
}

func newSpace(sys system) *space { return &space{sys: sys} }

// process is the space of Reserve. It is made at the first call, not at start,
// so that a program that never reserves does not read kernel settings.
var process = sync.OnceValue(func() *space { return newSpace(platform()) })

// Reserve takes a range of address space for the caller: size bytes, rounded up
// to Granule, all reserved. It costs no memory where Real, and some microseconds at any
// size. It is carved from what Release has parked, whatever its
// sizes were, where that has it in one piece; else it comes from the OS.
//
// The Go runtime, which ends the process where it gets no addresses, keeps room: what
// the OS gives leaves a tenth of the limit ("ulimit -v"), 144 MiB at least and 1 GiB at
// most. What was parked is taken while Go can still grow its heap or has 48 MiB free
// in it; if not it collects first. An error is an *Error that wraps ErrAddressSpace, or
// ErrMemory where regions are Go objects. size must be positive.
func Reserve(size int) (*Region, error) { return process().reserve(size) }

// ReserveUpTo is Reserve for callers that can use less: where size is refused it
// asks for half, and so on, rounded up to Granule, but never for less than
// least, which is asked for last. Region.Size says what it got, Region.Asked
// what it was asked for and Region.Refusal why it is less. An error is that of
// Reserve for least. Between the two a size is taken only where three times as much is
// left, in parked ranges or with the OS: for the regions that come later, and for the
// Go runtime. 0 < least <= size.
func ReserveUpTo(size, least int) (*Region, error) { return process().reserveUpTo(size, least) }

// Parked is what Release has parked and no Reserve has taken again: ranges and
// their bytes of address space. Ranges side by side may count as one. Where Real they
// hold no memory.
func Parked() (ranges int, bytes int) { return process().count() }

func (s *space) reserve(size int) (*Region, error) {
	if size <= 0 {
		panic(fmt.Sprintf("mmap: Reserve: size=%d is not positive", size))
	}
	if size > math.MaxInt-mostRoom-2*Granule { // so that neither rounding nor room overflows
		return nil, s.refuseReserve(size, errTooLarge)
	}
	size = roundUp(size)
	r := &Region{space: s, asked: size}
	r.mu.Lock() // a fault in a range that was parked may find it at once
	defer r.mu.Unlock()
	if !s.takeParked(r, size) {
		if errno := s.takeFresh(r, size); errno != nil {
			return nil, s.refuseReserve(size, errno)
		}
	}
	r.ready, r.locked, r.memory.stale = newSets(size/Granule, r.memory.stale)
	return r, r.done()
}

func (s *space) reserveUpTo(size, least int) (*Region, error) {
	if least <= 0 || least > size {
		panic(fmt.Sprintf("mmap: ReserveUpTo: least=%d is not in 1..size=%d", least, size))
	}
	var refusal error
	for try := size; ; try = max(try/2, least) {
		var r *Region
		var err error
		if least < try && try < size {
			err = s.room(try)
		}
		if err == nil {
			r, err = s.reserve(try)
		}
		if err == nil {
			if refusal != nil {
				r.asked, r.refusal = roundUp(size), refusal
			}
			return r, nil
		}
		if try == least {
			return nil, err
		}
		refusal = err
	}
}

// room reports whether a region of that size would leave three times as much, parked
// or with the system, beside what stays with Go.
func (s *space) room(size int) error {
	size = roundUp(size)
	errno := errTooLarge
	if size <= math.MaxInt/8 {
		_, parked := s.count()
		if 4*size <= parked {
			return nil
		}
		errno = s.sys.room(4*size - parked)
	}
	if errno != nil {
		return s.refuseReserve(size, errno)
	}
	return nil
}

func (s *space) refuseReserve(size int, errno error) error {
	refused, advice := s.sys.traits().refused, s.sys.advice("Reserve", errno)
	return &Error{Op: "Reserve", Size: size, Err: refused, Errno: errno, advice: advice}
}

// roundUp gives the next multiple of Granule, or the last there is.
func roundUp(size int) int {
	return (min(size, math.MaxInt-Granule+1) + Granule - 1) &^ (Granule - 1)
}

// takeParked gives r a range of what is parked, if there is one and Go has room for
// more work.
func (s *space) takeParked(r *Region, size int) bool {
	if _, parked := s.count(); size > parked || !s.reusable() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.parked.take(size)
	if !ok {
		return false
	}
	r.memory = m
	s.tenants.add(r)
	return true
}

// takeFresh gives r a range of the system's. Where ranges are Go objects, as much of
// what is parked goes to the collector: pieces of several objects do not make one,
// so regions that grow would otherwise leave a park of all smaller sizes.
func (s *space) takeFresh(r *Region, size int) error {
	s.fresh.Lock()
	defer s.fresh.Unlock()
	if !s.hold(size) {
		return errMost
	}
	m, errno := s.sys.reserve(size)
	s.mu.Lock()
	defer s.mu.Unlock()
	if errno != nil {
		s.held -= size
		return errno
	}
	if m.object != nil {
		s.held -= s.parked.forget(size)
	}
	r.memory = m
	s.tenants.add(r)
	return nil
}

// hold books a new range. Where the system has room for so many bytes together, ranges are Go
// objects: those that are parked are left to the collector when the new one then fits.
func (s *space) hold(size int) bool {
	most := s.sys.traits().most
	s.mu.Lock()
	defer s.mu.Unlock()
	if most > 0 && size > most-s.held {
		if size > most-s.held+s.parked.bytes {
			return false
		}
		s.held -= s.parked.forget(s.parked.bytes)
		if size > most-s.held {
			return false // parts of objects are in use
		}
		runtime.GC() // now, because their room is needed now
	}
	s.held += size
	return true
}

// retire takes the range of r back. Its granules are denied; they are dropped or stale.
func (s *space) retire(r *Region) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tenants.remove(r)
	s.parked.add(r.memory)
}

func (s *space) count() (ranges, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.parked.pieces), s.parked.bytes
}

// claim books delta more runs of equal access (ready granules, guards where those
// are mappings, locks), or reports that the process cannot afford them. A run
// costs the kernel up to two mappings, and the Go runtime dies when a mapping of
// its own is refused (measured: "fatal error: runtime: cannot allocate memory"),
// so regions stop at half of what it permits. That is an estimate: the kernel
// merges granules that were committed in order, but not neighbours that were both
// touched before the gap between them was closed (measured: 1,024 granules in
// order 1 mapping, even ones first and then odd ones 512, for one run). So each
// time as many runs as an eighth of the mappings can hold have been claimed, the
// kernel's own count is looked at, and growth ends at three quarters.
func (s *space) claim(delta int) bool {
	limit := s.sys.traits().mappings
	s.mu.Lock()
	defer s.mu.Unlock()
	if delta > 0 && limit > 0 {
		if s.runs+delta > limit {
			return false
		}
		if s.grown+delta > limit/4 {
			if s.sys.mapped() > 3*limit {
				return false
			}
			s.grown = 0
		}
		s.grown += delta
	}
	s.runs += delta
	return true
}

// settle books what has happened already.
func (s *space) settle(delta int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs += delta
}
