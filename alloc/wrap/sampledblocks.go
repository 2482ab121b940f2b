package wrap

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// sampledBlocks are the live blocks of a Sampled that were sampled. Nearly all that are
// freed were not, so the question is first put to a filter, without the lock:
//
//	address -- hash --> counts[i]: how many sampled blocks have this hash
//	                    0: p was not sampled;  else: the map knows
//
// The filter has 16 counts or more a block, up to a limit, so that one in 16 frees
// or less takes the lock for nothing. The goroutine that frees a block has it from the one that
// allocated it, and by the same way sees its count, in the filter of that time or a later one.
type sampledBlocks struct {
	filter atomic.Pointer[filter]
	mu     sync.Mutex
	live   map[uintptr]*bucket // by address; written, as is the filter, under mu
}

// filter counts addresses by hash.
type filter struct {
	shift  int
	counts []atomic.Uint32
}

const (
	leastCounts = 1 << 10 // 4 KiB
	mostCounts  = 1 << 20 // 4 MiB, for 65,536 blocks: 32 GiB in use at the default rate
	countsEach  = 16
)

func newFilter(n int) *filter {
	return &filter{shift: hashShift(n), counts: make([]atomic.Uint32, n)}
}

// at returns the count of an address. One multiplication would keep the even steps in which
// slots lie, and those of one slab could meet all those of another.
func (f *filter) at(p uintptr) *atomic.Uint32 {
	h := uint64(p) * hashFactor
	return &f.counts[(h^h>>32)*hashFactor>>f.shift]
}

func (s *sampledBlocks) init() {
	s.live = map[uintptr]*bucket{}
	s.filter.Store(newFilter(leastCounts))
}

// may reports false for blocks that were not sampled.
func (s *sampledBlocks) may(p unsafe.Pointer) bool {
	return s.filter.Load().at(uintptr(p)).Load() != 0
}

// put remembers a block of b. One that is still known at the address was taken back
// without a free.
func (s *sampledBlocks) put(p unsafe.Pointer, b *bucket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := uintptr(p)
	old := s.live[at]
	s.live[at] = b
	if old != nil {
		old.frees.Add(1)
		return
	}
	f := s.filter.Load()
	f.at(at).Add(1)
	if n := len(f.counts); n < mostCounts && len(s.live)*countsEach > n {
		s.grow(2 * n)
	}
}

// grow makes a filter of n counts. The old one is complete until the new one is
// there, for those who look meanwhile.
func (s *sampledBlocks) grow(n int) {
	f := newFilter(n)
	for at := range s.live {
		f.at(at).Add(1)
	}
	s.filter.Store(f)
}

// take forgets a block and returns its bucket, nil if it was not sampled.
func (s *sampledBlocks) take(p unsafe.Pointer) *bucket {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := uintptr(p)
	b := s.live[at]
	if b != nil {
		delete(s.live, at)
		s.filter.Load().at(at).Add(^uint32(0))
	}
	return b
}
