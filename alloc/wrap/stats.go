package wrap

import (
	"encoding/json"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"quarry/alloc"
)

// Stats counts the calls that go through it. It is an expvar.Var:
//
//	expvar.Publish("textures", wrap.NewStats(heap))
//
// Any goroutine that may use the allocator inside may use a Stats. Cost: two atomic additions each
// for Alloc, FreeSized and ResizeSized. A reallocation counts as a resize when the block stays, and
// as an allocation and a free when it moves; the peak then has the larger of the two sizes,
// although the allocator inside has both blocks for a moment.
//
// Memory that an allocator takes back as a whole, as an Arena does by Reset, still counts as live.
type Stats struct {
	inside

	_              [64]byte // all calls read from, and write what follows
	live, peak     atomic.Int64
	frees, resizes atomic.Int64
	refusedAllocs  atomic.Int64
	refusedResizes atomic.Int64
	_              [64]byte // a free writes the line above and none of these
	sizes          [64]atomic.Int64
}

// Counts holds the counts of a Stats. Sizes are requested sizes.
type Counts struct {
	Allocs         int64 `json:"allocs"`  // blocks allocated
	Resizes        int64 `json:"resizes"` // successful resizes and reallocations in place
	Frees          int64 `json:"frees"`   // blocks freed; frees of nil do not count
	RefusedAllocs  int64 `json:"refused_allocs"`
	RefusedResizes int64 `json:"refused_resizes"`
	LiveBlocks     int64 `json:"live_blocks"`
	LiveBytes      int64 `json:"live_bytes"`
	PeakBytes      int64 `json:"peak_bytes"` // largest number of bytes live at once

	// Sizes[k] is how many of Allocs requested more than 2^(k-1) and at most 2^k bytes; Sizes[0]
	// counts requests of 0 or 1. It ends with the largest size requested.
	Sizes []int64 `json:"sizes"`
}

// NewStats returns a Stats that counts the calls of a from now on.
func NewStats(a alloc.Allocator) *Stats {
	return &Stats{inside: insideOf("NewStats", a)}
}

// Alloc allocates from the allocator inside.
func (s *Stats) Alloc(size, align int) (unsafe.Pointer, error) {
	p, err := s.from.Alloc(size, align)
	return s.allocated(p, size, err)
}

// AllocZeroed is Alloc of a zeroed block.
func (s *Stats) AllocZeroed(size, align int) (unsafe.Pointer, error) {
	p, err := s.more.AllocZeroed(size, align)
	return s.allocated(p, size, err)
}

// allocated counts an allocation, done or refused.
func (s *Stats) allocated(p unsafe.Pointer, size int, err error) (unsafe.Pointer, error) {
	if err != nil {
		s.refusedAllocs.Add(1)
		return nil, err
	}
	s.size(size)
	s.add(size)
	return p, nil
}

// size counts an allocation of n bytes.
func (s *Stats) size(n int) { s.sizes[bits.Len(uint(max(n, 1)-1))%64].Add(1) }

// add counts n bytes that became live.
func (s *Stats) add(n int) {
	live := s.live.Add(int64(n))
	for peak := s.peak.Load(); live > peak && !s.peak.CompareAndSwap(peak, live); {
		peak = s.peak.Load()
	}
}

// ResizeSized resizes by the allocator inside.
func (s *Stats) ResizeSized(p unsafe.Pointer, size, align, to int) bool {
	if !s.from.ResizeSized(p, size, align, to) {
		s.refusedResizes.Add(1)
		return false
	}
	s.resizes.Add(1)
	s.add(to - size)
	return true
}

// ReallocSized reallocates by the allocator inside.
func (s *Stats) ReallocSized(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	q, err := s.more.ReallocSized(p, size, align, to)
	return s.moved(p, q, size, to, err)
}

// ReallocZeroed is ReallocSized with added bytes zero.
func (s *Stats) ReallocZeroed(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	q, err := s.more.ReallocZeroed(p, size, align, to)
	return s.moved(p, q, size, to, err)
}

// moved counts a reallocation from p to q, done or refused.
func (s *Stats) moved(p, q unsafe.Pointer, size, to int, err error) (unsafe.Pointer, error) {
	switch {
	case p == nil:
		return s.allocated(q, to, err)
	case err != nil:
		s.refusedResizes.Add(1)
		return nil, err
	case p == q:
		s.resizes.Add(1)
	default:
		s.size(to)
		s.frees.Add(1)
	}
	s.add(to - size)
	return q, nil
}

// FreeSized frees through the allocator inside.
func (s *Stats) FreeSized(p unsafe.Pointer, size, align int) {
	s.from.FreeSized(p, size, align)
	if p != nil {
		s.live.Add(-int64(size))
		s.frees.Add(1)
	}
}

// Counts returns the counts so far. While other goroutines make calls, the numbers are of no single
// instant.
func (s *Stats) Counts() Counts {
	c := Counts{
		Frees:          s.frees.Load(), // before the allocations, so that LiveBlocks is not negative
		Resizes:        s.resizes.Load(),
		RefusedAllocs:  s.refusedAllocs.Load(),
		RefusedResizes: s.refusedResizes.Load(),
		LiveBytes:      s.live.Load(),
		PeakBytes:      s.peak.Load(),
		Sizes:          []int64{},
	}
	for k := range s.sizes {
		if n := s.sizes[k].Load(); n > 0 {
			c.Sizes = append(c.Sizes, make([]int64, k+1-len(c.Sizes))...)
			c.Sizes[k] = n
			c.Allocs += n
		}
	}
	c.LiveBlocks = c.Allocs - c.Frees
	return c
}

// String returns the Counts as a JSON object.
func (s *Stats) String() string {
	text, err := json.Marshal(s.Counts())
	if err != nil {
		panic("wrap: Stats.String: " + err.Error()) // JSON can encode every value of Counts
	}
	return string(text)
}
