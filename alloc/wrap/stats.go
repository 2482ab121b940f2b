package wrap

import (
	"encoding/json"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"quarry/alloc"
)

// Stats counts what goes through it. It is an expvar.Var:
//
//	expvar.Publish("textures", wrap.NewStats(heap))
//
// Any goroutine may use it that may use the allocator inside. Cost: two atomic
// additions for an Alloc, two for a FreeSized, two for a ResizeSized.
//
// What an allocator takes back as a whole, as an Arena does by a reset, stays live here.
type Stats struct {
	from alloc.Allocator

	_              [64]byte // from is read by all calls, and what follows written
	live, peak     atomic.Int64
	frees, resizes atomic.Int64
	refusedAllocs  atomic.Int64
	refusedResizes atomic.Int64
	_              [64]byte // a free writes the line above and none of these
	sizes          [64]atomic.Int64
}

// Counts is what Stats has counted. Sizes are those that were asked for.
type Counts struct {
	Allocs         int64 `json:"allocs"`  // blocks that were handed out
	Resizes        int64 `json:"resizes"` // in place, that could be done
	Frees          int64 `json:"frees"`   // of blocks, so without those of nil
	RefusedAllocs  int64 `json:"refused_allocs"`
	RefusedResizes int64 `json:"refused_resizes"`
	LiveBlocks     int64 `json:"live_blocks"`
	LiveBytes      int64 `json:"live_bytes"`
	PeakBytes      int64 `json:"peak_bytes"` // the most that was live at a time

	// Sizes[k] is how many of Allocs asked for more than 2^(k-1) and at most 2^k
	// bytes, and Sizes[0] for 0 or 1. It ends with the greatest size that came.
	Sizes []int64 `json:"sizes"`
}

// NewStats counts the calls of a from now on.
func NewStats(a alloc.Allocator) *Stats {
	checkInside("NewStats", a)
	return &Stats{from: a}
}

// Alloc is that of the allocator inside.
func (s *Stats) Alloc(size, align int) (unsafe.Pointer, error) {
	p, err := s.from.Alloc(size, align)
	if err != nil {
		s.refusedAllocs.Add(1)
		return nil, err
	}
	s.sizes[bits.Len(uint(max(size, 1)-1))%64].Add(1)
	s.add(size)
	return p, nil
}

// add counts bytes that came to life.
func (s *Stats) add(n int) {
	live := s.live.Add(int64(n))
	for peak := s.peak.Load(); live > peak && !s.peak.CompareAndSwap(peak, live); {
		peak = s.peak.Load()
	}
}

// ResizeSized is that of the allocator inside.
func (s *Stats) ResizeSized(p unsafe.Pointer, size, align, to int) bool {
	if !s.from.ResizeSized(p, size, align, to) {
		s.refusedResizes.Add(1)
		return false
	}
	s.resizes.Add(1)
	s.add(to - size)
	return true
}

// FreeSized is that of the allocator inside.
func (s *Stats) FreeSized(p unsafe.Pointer, size, align int) {
	s.from.FreeSized(p, size, align)
	if p != nil {
		s.live.Add(-int64(size))
		s.frees.Add(1)
	}
}

// Counts returns what was counted so far. While other goroutines call, the numbers
// are not of one instant.
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
		panic("wrap: Stats.String: " + err.Error()) // there is no value in Counts that JSON has not
	}
	return string(text)
}

// Unwrap returns the allocator inside.
func (s *Stats) Unwrap() alloc.Allocator { return s.from }
