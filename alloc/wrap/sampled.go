package wrap

import (
	"math/bits"
	"runtime"
	"sync/atomic"
	"unsafe"

	"quarry/alloc"
	"quarry/internal/debug"
)

// Sampled is an allocator of a Profile. A block that gets another size counts as freed and
// allocated again, where it was resized. Any goroutine may use it that may use the
// allocator inside.
//
// What an allocator takes back as a whole, as an Arena does by a reset, stays in
// use in the profile until a block is sampled there again.
//
// Cost: blocks that are not sampled write no cache line that others write; Alloc counts down
// bytes and FreeSized looks at a table of a few KiB, which together is 3 ns. A sample
// costs 0.3 us and more, by the depth of the stack.
type Sampled struct {
	from    alloc.Allocator
	profile *Profile
	name    string
	shift   int         // of a hash, to an index in left
	left    []countdown // bytes until the next sample, by goroutine
	blocks  sampledBlocks
}

// countdown is a cache line of its own.
type countdown struct {
	bytes int64
	_     [56]byte
}

// hashShift is what a hash of 64 bits is shifted by for an index below n, a power of two.
func hashShift(n int) int { return 64 - bits.TrailingZeros(uint(n)) }

// hashFactor spreads addresses: 2^64 over the golden ratio.
const hashFactor = 0x9E3779B97F4A7C15

// due counts bytes down, and returns the countdown when it is over. A goroutine's is
// that of a hash of where its stack is. Two with the same one, which is rare, lose counts to one
// another: with both allocating all the time 0 to 3 % of the samples were missing. An
// atomic store would make the pair 5 ns dearer. Race builds have one, so that they
// report every other access.
func (s *Sampled) due(size int) *countdown {
	var here byte
	// Safe because the address is hashed and not kept.
	c := &s.left[uint64(uintptr(unsafe.Pointer(&here)))>>11*hashFactor>>s.shift]
	n := atomic.LoadInt64(&c.bytes) - int64(max(size, 1))
	if n < 0 {
		return c
	}
	if debug.On {
		atomic.StoreInt64(&c.bytes, n)
	} else {
		c.bytes = n
	}
	return nil
}

// Alloc is that of the allocator inside.
func (s *Sampled) Alloc(size, align int) (unsafe.Pointer, error) {
	p, err := s.from.Alloc(size, align)
	if err != nil {
		return nil, err
	}
	if c := s.due(size); c != nil {
		s.sample(c, p, size)
	}
	return p, nil
}

// ResizeSized is that of the allocator inside.
func (s *Sampled) ResizeSized(p unsafe.Pointer, size, align, to int) bool {
	if !s.from.ResizeSized(p, size, align, to) {
		return false
	}
	if to == size { // as Zero asks, to hear whether the block is sound
		return true
	}
	if s.blocks.may(p) {
		if b := s.blocks.take(p); b != nil {
			b.frees.Add(1)
		}
	}
	if c := s.due(to); c != nil {
		s.sample(c, p, to)
	}
	return true
}

// FreeSized is that of the allocator inside.
func (s *Sampled) FreeSized(p unsafe.Pointer, size, align int) {
	if s.blocks.may(p) {
		s.freeSampled(p, size, align)
		return
	}
	s.from.FreeSized(p, size, align)
}

// sample begins the countdown anew, counts a block and remembers it. It is called from Alloc
// and ResizeSized alone, whose callers' stack it takes.
//
//go:noinline
func (s *Sampled) sample(c *countdown, p unsafe.Pointer, size int) {
	left := atomic.LoadInt64(&c.bytes)
	if left >= int64(max(size, 1)) || !atomic.CompareAndSwapInt64(&c.bytes, left, s.profile.next()) {
		return // another goroutine with the same countdown has taken this sample
	}
	var stack [deepest]uintptr
	depth := runtime.Callers(3, stack[:])
	s.blocks.put(p, s.profile.count(s.name, size, stack[:depth]))
}

// freeSampled forgets the block before it is freed, since the address can be someone
// else's right after; and knows it again when the free panics.
//
//go:noinline
func (s *Sampled) freeSampled(p unsafe.Pointer, size, align int) {
	b := s.blocks.take(p)
	if b == nil {
		s.from.FreeSized(p, size, align)
		return
	}
	b.frees.Add(1)
	freed := false
	defer func() {
		if !freed {
			b.frees.Add(-1)
			s.blocks.put(p, b)
		}
	}()
	s.from.FreeSized(p, size, align)
	freed = true
}

// Unwrap returns the allocator inside.
func (s *Sampled) Unwrap() alloc.Allocator { return s.from }
