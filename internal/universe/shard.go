package universe

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Goroutines that allocate at the same time should write to different cache lines. Go does not
// report which processor a goroutine runs on, but the goroutine's stack has an address: a table
// maps a hash of that address to a shard. All entries begin at shard 0, so a program without
// contention pays for one shard. A goroutine that loses a compare-and-swap moves its entry to the
// next shard.

const (
	// MaxShards is the number of shards.
	MaxShards = 16

	shardEntries = 1024
)

// Shards maps goroutines to shard numbers.
type Shards struct {
	of atomic.Pointer[shardTable] // nil until the first move: until then all goroutines are at shard 0
}

// shardTable has the shards by a hash of the stack. Entries are written by Move.
type shardTable [shardEntries]atomic.Uint32

// entry hashes the address of a variable on the caller's stack. Stacks begin at multiples of their
// size, at least 2 KiB, so two goroutines never hash the same number. The odds that two goroutines
// share an entry are 1 in 1,024; they then contend. A deeper call on a larger stack may hash to
// another entry, which can cost contention but not correctness.
func (t *shardTable) entry() *atomic.Uint32 {
	var here byte
	// Safe because the address is hashed and not kept.
	at := uint64(uintptr(unsafe.Pointer(&here))) >> 11
	return &t[at*0x9E3779B97F4A7C15>>54]
}

// Index returns the shard of the calling goroutine, below MaxShards.
func (s *Shards) Index() int {
	t := s.of.Load()
	if t == nil {
		return 0
	}
	return int(t.entry().Load()) % MaxShards
}

// Move assigns the calling goroutine a shard other than lost, where it lost a compare-and-swap.
func (s *Shards) Move(lost int) {
	if n := min(runtime.GOMAXPROCS(0), MaxShards); n > 1 {
		s.table().entry().Store(uint32((lost + 1) % n))
	}
}

// table returns the table, made if there is none.
func (s *Shards) table() *shardTable {
	if t := s.of.Load(); t != nil {
		return t
	}
	s.of.CompareAndSwap(nil, new(shardTable)) // else another goroutine was faster
	return s.of.Load()
}

// Used returns how many shards the entries name, for tests.
func (s *Shards) Used() int {
	seen := map[uint32]bool{}
	t := s.table()
	for i := range t {
		seen[t[i].Load()] = true
	}
	return len(seen)
}
