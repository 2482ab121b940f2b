package mmap

import (
	"runtime"
	"time"
)

// Go's room: addresses that regions leave to the Go runtime, which ends the process when it gets
// none. The runtime grows its heap by 64 MiB (measured: once with 66 MiB left, twice with 130, not
// at all with 64), and requests 128 MiB, to align them, where the addresses after its heap are
// taken. A thread takes no addresses without cgo; with cgo it takes 8 MiB and, as far as there are
// any, 64 MiB for a heap of the C library. A program with cgo, many threads and little room sets
// MALLOC_ARENA_MAX=1.
//
// So a reservation leaves two steps of the heap, or one anywhere, and some MiB for everything else.
// Where there is more to share it leaves more.
//
// A parked range takes no addresses, but its user takes Go memory (a world 230 KiB and more). So a
// parked range is handed out only where Go can take a step and has two fifths of its room, which is
// a step anywhere from limits of 4 GB on, or has some free in its heap.
const (
	leastRoom = 144 << 20 // bytes; under a limit a tenth of the limit, but at least this
	mostRoom  = 1 << 30   // and at most this, which is also what is left without a limit
	goStep    = 82 << 20  // bytes that Go takes to grow its heap, and two threads with cgo
	reuseRoom = 48 << 20  // bytes free in Go's heap that suffice for another region
)

// parkedPart is what part of a limit may be parked: one in so many bytes. What is beyond goes back
// to the system, for Go and for all others, the range parked longest first.
const parkedPart = 4

// vain records a collection that made no room.
type vain struct {
	open int           // regions at the time
	end  time.Time     // zero: there was none
	took time.Duration // from begin to end
}

// repeats reports whether another collection may do better: regions have been closed since, or it
// was long ago.
func (v *vain) repeats(open int) bool {
	return v.end.IsZero() || 8*open < 7*v.open || time.Since(v.end) > 10*v.took
}

// reusable reports whether Go has room to work with a parked range. If not, it collects first:
// closed regions leave garbage behind, perhaps of whole worlds, and Go would grow, and die, rather
// than collect early.
func (s *space) reusable() bool {
	if s.sys.reuse() == nil {
		return true
	}
	s.mu.Lock()
	open := len(s.tenants)
	repeats := s.vain.repeats(open)
	s.mu.Unlock()
	if !repeats {
		return false
	}
	begin := time.Now()
	runtime.GC()
	ok := s.sys.reuse() == nil
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.vain = (vain{}); !ok {
		s.vain = vain{open: open, end: time.Now(), took: time.Since(begin)}
	}
	return ok
}
