package alloc

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Goroutines that allocate at the same time should write to different cache
// lines. Go does not tell which processor a goroutine runs on, but its stack has
// an address: a table maps a hash of it to a shard. All entries begin at shard 0,
// so that a program that does not contend pays for one shard; a goroutine that
// loses a compare-and-swap moves its entry on.

const (
	maxShards    = 16
	shardEntries = 1024
)

// shards maps goroutines to shard numbers.
type shards struct {
	several atomic.Bool                 // somebody has moved; until then all are at shard 0
	of      [shardEntries]atomic.Uint32 // by hash of the stack; written by move
}

// entry hashes the address of a variable on the caller's stack. Stacks begin at
// multiples of their size, 2 KiB at least, so those of two goroutines never give
// the same number; that they give the same entry has odds of 1 in 1,024, and then
// the two contend. A deeper call on a larger stack may hash to another entry,
// which costs nothing but luck.
func (s *shards) entry() *atomic.Uint32 {
	var here byte
	// Safe because the address is hashed and not kept.
	at := uint64(uintptr(unsafe.Pointer(&here))) >> 11
	return &s.of[at*0x9E3779B97F4A7C15>>54]
}

// index returns the shard of the calling goroutine, below maxShards.
func (s *shards) index() int {
	if !s.several.Load() {
		return 0
	}
	return int(s.entry().Load()) % maxShards
}

// move gives the calling goroutine another shard than the one where it lost.
func (s *shards) move(lost int) {
	if n := min(runtime.GOMAXPROCS(0), maxShards); n > 1 {
		s.entry().Store(uint32((lost + 1) % n))
		s.several.Store(true)
	}
}
