package mmap

import (
	"fmt"
	"math"
	"runtime"
	"sync"
)

// space is a backing and the ranges taken from it. The process has one; tests make others, with
// backings that fail.
type space struct {
	sys     backing
	fresh   sync.Mutex // held over a reservation from the backing, so that no two see the same room
	mu      sync.Mutex
	parked  park    // ranges without an owner; guarded by mu
	held    int     // bytes of all ranges, of regions and parked; guarded by mu
	tenants tenants // open regions; guarded by mu
	runs    int     // runs of equal access in all open regions; guarded by mu
	grown   int     // runs claimed since the kernel's count was last read; guarded by mu
	vain    vain    // the last collection that made no room for Go; guarded by mu
}

func newSpace(sys backing) *space { return &space{sys: sys} }

// process returns the space of Reserve. It is made at the first call, not at start, so that a
// program that never reserves does not read kernel settings.
var process = sync.OnceValue(func() *space { return newSpace(platform()) })

// Reserve reserves a range of address space of size bytes, rounded up to Granule. Where Real, it
// takes no memory, and some microseconds at any size. The range is carved from parked ranges,
// whatever their sizes, where these have it in one piece; otherwise it comes from the OS.
//
// The Go runtime, which ends the process when it gets no addresses, keeps room. A range from the OS
// leaves it a tenth of the limit ("ulimit -v"), at least 144 MiB and at most 1 GiB. A parked range
// is taken while Go can still grow its heap or has 48 MiB free in it; otherwise Reserve collects
// garbage first. An error is an *Error that wraps ErrAddressSpace, or ErrMemory where regions are
// Go objects. Reserve panics unless size is positive.
func Reserve(size int) (*Region, error) { return process().reserve(size) }

// ReserveUpTo is Reserve for callers that can use less. When size is refused it tries half, and so
// on, rounded up to Granule, and finally least, never less. Region.Size returns the reserved bytes,
// Region.Asked the requested ones, and Region.Refusal why they are fewer. An error is Reserve's for
// least. A size between the two is taken only where three times as much is left, in parked ranges
// or with the OS, for later regions and for the Go runtime. ReserveUpTo panics unless 0 < least <=
// size.
func ReserveUpTo(size, least int) (*Region, error) { return process().reserveUpTo(size, least) }

// Parked returns the number of ranges that Release has parked and no Reserve has taken again, and
// their bytes of address space. Adjacent ranges may count as one. Where Real, they hold no memory.
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
	r.mu.Lock() // a fault in a range that was parked may find r at once
	defer r.mu.Unlock()
	if !s.takeParked(r, size) {
		if errno := s.takeFresh(r, size); errno != nil {
			return nil, s.refuseReserve(size, errno)
		}
	}
	r.ready, r.locked, r.fine, r.filed, r.memory.stale = newSets(size/Granule, r.memory.stale)
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

// room returns nil when a region of that size would leave three times as much, parked or with the
// system, in addition to Go's room.
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

// roundUp returns the next multiple of Granule, or the largest that an int holds.
func roundUp(size int) int {
	return (min(size, math.MaxInt-Granule+1) + Granule - 1) &^ (Granule - 1)
}

// takeParked gives r a parked range, if there is one and Go has room for more work.
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

// takeFresh gives r a range from the backing. Where ranges are Go objects it leaves as many parked
// bytes to the collector: pieces of several objects cannot be joined, so regions that grow would
// otherwise leave parked ranges of all smaller sizes.
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

// hold counts a new range and reports whether it fits. Where a backing limits the bytes of all
// ranges, ranges are Go objects: parked ones are left to the collector when the new one fits then.
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

// retire parks the range of r. Its granules are denied, and are either dropped or stale. Where the
// backing limits parked addresses, those beyond go back.
func (s *space) retire(r *Region) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tenants.remove(r)
	s.parked.add(r.memory)
	if most := s.sys.share(); most > 0 {
		s.held -= s.parked.shed(most, s.sys.unmap)
	}
}

func (s *space) count() (ranges, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.parked.pieces), s.parked.bytes
}

// claim counts delta more runs (of ready, locked, fine or filed granules, and of guards where those
// are mappings), or reports that the process cannot afford them. A run costs the kernel up to two
// mappings, and the Go runtime dies when a mapping of its own is refused (measured: "fatal error:
// runtime: cannot allocate memory"), so regions stop at half of the mappings that the kernel
// permits. That is an estimate: the kernel merges granules that were committed in order, but not
// neighbors that were both touched before the gap between them was closed (measured, for one run:
// 1,024 granules in order take 1 mapping, even ones first and then odd ones 512). So after every
// eighth of the mappings that has been claimed, the kernel's own count is read, and growth ends at
// three quarters.
func (s *space) claim(delta int) bool {
	limit := s.sys.traits().mostRuns // a quarter of the kernel's mappings: two a run, and half for all other code
	s.mu.Lock()
	defer s.mu.Unlock()
	if delta > 0 && limit > 0 {
		if s.runs+delta > limit {
			return false
		}
		if s.grown+delta > limit/4 { // an eighth of the mappings
			if s.sys.mapped() > 3*limit { // three quarters
				return false
			}
			s.grown = 0
		}
		s.grown += delta
	}
	s.runs += delta
	return true
}

// settle counts a change that has already happened.
func (s *space) settle(delta int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs += delta
}
