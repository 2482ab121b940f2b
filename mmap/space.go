package mmap

import (
	"fmt"
	"math"
	"runtime"
	"sync"
)

// space is a system and the ranges of it that no region owns. The process has
// one; tests make others, with systems that fail.
type space struct {
	sys     system
	mu      sync.Mutex
	parked  map[int][]memory // by size in bytes; last in, first out; guarded by mu
	held    int              // bytes of the ranges of regions and of those parked; guarded by mu
	runs    int              // runs of equal access in all open regions; guarded by mu
	grown   int              // runs claimed since the kernel's count was looked at; guarded by mu
	tenants tenants          // who has which range; guarded by mu
}

func newSpace(sys system) *space {
	return &space{sys: sys, parked: make(map[int][]memory)}
}

// process is the space of Reserve. It is made at the first call, not at start,
// so that a program that never reserves does not read kernel settings.
var process = sync.OnceValue(func() *space { return newSpace(platform()) })

// Reserve takes a range of address space for the caller: size bytes, rounded up
// to Granule, all reserved. It costs no memory where Real, and there takes some
// tens of microseconds at any size (16 GiB: 30). A range of that size that
// Release has parked is used before a new one. An error is an *Error that wraps ErrAddressSpace, or
// ErrMemory where regions are Go objects. size must be positive.
func Reserve(size int) (*Region, error) { return process().reserve(size) }

// ReserveUpTo is Reserve for callers that can use less: where size is refused it
// asks for half, and so on, rounded up to Granule, but never for less than
// least, which is asked for last. Region.Size says what it got, Region.Asked
// what it was asked for and Region.Refusal why it is less. An error is that of
// Reserve for least. Less than size is taken only where three times as much is
// left, because the Go runtime lives in the same address space and ends the
// process when it gets none; least, and a parked range, are taken whatever is left.
// 0 < least <= size.
func ReserveUpTo(size, least int) (*Region, error) { return process().reserveUpTo(size, least) }

// Parked is what Release has parked and no Reserve has taken again: ranges and
// their bytes of address space. Where Real they hold no memory.
func Parked() (regions int, bytes int) { return process().count() }

func (s *space) reserve(size int) (*Region, error) {
	if size <= 0 {
		panic(fmt.Sprintf("mmap: Reserve: size=%d is not positive", size))
	}
	m, errno := memory{}, errTooLarge
	if size <= math.MaxInt-2*Granule { // so that neither rounding nor alignment overflows
		size = roundUp(size)
		m, errno = s.take(size)
	}
	if errno != nil {
		return nil, s.refuseReserve(size, errno)
	}
	n := size / Granule
	r := &Region{space: s, memory: m, ready: newGranules(n), locked: newGranules(n), asked: size}
	s.settleIn(&m, r)
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

// room reports whether a region of that size, with three times as much to spare,
// could be had. A parked one costs nothing that is not taken already.
func (s *space) room(size int) error {
	size = roundUp(size)
	s.mu.Lock()
	parked := len(s.parked[size]) > 0
	s.mu.Unlock()
	if parked {
		return nil
	}
	errno := errTooLarge
	if size <= math.MaxInt/8 {
		errno = s.sys.room(4 * size)
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

// take gives a parked range, or else a new one.
func (s *space) take(size int) (memory, error) {
	if m, ok := s.unpark(size); ok {
		return m, nil
	}
	if !s.hold(size) {
		return memory{}, errMost
	}
	m, errno := s.sys.reserve(size)
	if errno != nil {
		s.mu.Lock()
		s.held -= size
		s.mu.Unlock()
		return m, errno
	}
	m.stale = newGranules(size / Granule)
	return m, nil
}

// hold books a new range. Where the system has room for so many bytes together, it is Go
// objects: those that are parked are left to the collector when the new one then fits.
func (s *space) hold(size int) bool {
	most := s.sys.traits().most
	s.mu.Lock()
	defer s.mu.Unlock()
	if most > 0 && size > most-s.held {
		_, parked := s.countParked()
		if size > most-s.held+parked {
			return false
		}
		clear(s.parked)
		s.held -= parked
		runtime.GC() // now, because their room is needed now
	}
	s.held += size
	return true
}

// park takes a range back. Its granules are denied; they are dropped or stale.
func (s *space) park(m memory) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parked[m.size] = append(s.parked[m.size], m)
}

// unpark gives the range of that size that was parked last.
func (s *space) unpark(size int) (memory, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.parked[size]
	if len(list) == 0 {
		return memory{}, false
	}
	last := len(list) - 1
	m := list[last]
	list[last] = memory{} // a Go object must not stay reachable from here
	s.parked[size] = list[:last]
	return m, true
}

func (s *space) count() (regions, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.countParked()
}

// countParked is count. mu is held.
func (s *space) countParked() (regions, bytes int) {
	for size, list := range s.parked {
		regions += len(list)
		bytes += len(list) * size
	}
	return regions, bytes
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
