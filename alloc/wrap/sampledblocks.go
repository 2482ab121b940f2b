package wrap

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// sampledBlocks records the live sampled blocks of a Sampled. Nearly all freed blocks were not
// sampled, so a filter is read first, without the lock:
//
//	address -- hash --> counts[i]: how many sampled blocks have this hash
//	                    0: p was not sampled;  otherwise: the map knows
//
// The filter has at least 16 counts per block, up to a limit, so at most one in 16 frees takes the
// lock in vain. The goroutine that frees a block received it from the goroutine that allocated it;
// by the same synchronization it sees the block's count, in the filter of that time or a later one.
type sampledBlocks struct {
	filter atomic.Pointer[addressFilter]
	mu     sync.Mutex
	live   map[uintptr]*bucket // by address; like the filter written under mu
}

// addressFilter counts addresses by hash.
type addressFilter struct {
	shift  int
	counts []atomic.Uint32
}

const (
	leastCounts = 1 << 10 // 4 KiB
	mostCounts  = 1 << 20 // 4 MiB, for 65,536 blocks: 32 GiB in use at the default rate
	countsEach  = 16
)

func newFilter(n int) *addressFilter {
	return &addressFilter{shift: hashShift(n), counts: make([]atomic.Uint32, n)}
}

// at returns the count of an address. With a single multiplication the even spacing of slots would
// persist, and the slots of one slab could collide with all slots of another.
func (f *addressFilter) at(p uintptr) *atomic.Uint32 {
	h := uint64(p) * hashFactor
	return &f.counts[(h^h>>32)*hashFactor>>f.shift]
}

func (s *sampledBlocks) init() {
	s.live = map[uintptr]*bucket{}
	s.filter.Store(newFilter(leastCounts))
}

// may returns false only for blocks that were not sampled.
func (s *sampledBlocks) may(p unsafe.Pointer) bool {
	return s.filter.Load().at(uintptr(p)).Load() != 0
}

// put records a block of b. A block still recorded at the address was taken back without a free.
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

// grow installs a filter of n counts. The old filter stays complete until the new one is installed,
// for concurrent readers.
func (s *sampledBlocks) grow(n int) {
	f := newFilter(n)
	for at := range s.live {
		f.at(at).Add(1)
	}
	s.filter.Store(f)
}

// take removes a block and returns its bucket, or nil if the block was not sampled.
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
