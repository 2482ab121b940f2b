package universe

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Goroutines that allocate at the same time should write to different cache lines. Go does not tell
// which processor a goroutine runs on, but the goroutine's stack has an address: a table maps a
// hash of that address to a shard. All entries begin at shard 0, so a program without contention
// pays for one shard. A goroutine that loses a compare-and-swap moves its entry to the next shard.

const (
	// MaxShards is the number of shards.
	MaxShards = 16

	shardEntries = 1024
)

// Shards maps goroutines to shard numbers.
type Shards struct {
	several atomic.Bool                 // some entry has moved; until then all are at shard 0
	Of      [shardEntries]atomic.Uint32 // by hash of the stack; written by move
}

// entry hashes the address of a variable on the caller's stack. Stacks begin at multiples of their
// size, at least 2 KiB, so two goroutines never hash the same number. The odds that two goroutines
// share an entry are 1 in 1,024; they then contend. A deeper call on a larger stack may hash to
// another entry, which can cost contention but not correctness.
func (s *Shards) entry() *atomic.Uint32 {
	var here byte
	// Safe because the address is hashed and not kept.
	at := uint64(uintptr(unsafe.Pointer(&here))) >> 11
	return &s.Of[at*0x9E3779B97F4A7C15>>54]
}

// Index returns the shard of the calling goroutine, below MaxShards.
func (s *Shards) Index() int {
	if !s.several.Load() {
		return 0
	}
	return int(s.entry().Load()) % MaxShards
}

// Move assigns the calling goroutine a shard other than lost, where it lost a compare-and-swap.
func (s *Shards) Move(lost int) {
	if n := min(runtime.GOMAXPROCS(0), MaxShards); n > 1 {
		s.entry().Store(uint32((lost + 1) % n))
		s.several.Store(true)
	}
}
