package wrap

import (
	"math/bits"
	"runtime"
	"sync/atomic"
	"unsafe"

	"quarry/internal/debug"
)

// Sampled is an allocator whose allocations a Profile samples. A resized block counts as freed and
// allocated again at the resize. Any goroutine that may use the allocator inside may use a Sampled.
//
// Memory that an allocator takes back as a whole, as an Arena does by Reset, stays in use in the
// profile until another block is sampled at its address.
//
// Cost: calls for blocks that are not sampled write no shared cache line. Alloc counts down bytes
// and FreeSized reads a table of a few KiB, 3 ns in total. A sample costs 0.3 us or more, depending
// on the depth of the stack.
type Sampled struct {
	inside
	profile *Profile
	name    string
	shift   int         // right shift of a hash that gives an index into left
	left    []countdown // bytes until the next sample, by goroutine
	blocks  sampledBlocks
}

// countdown is a cache line of its own.
type countdown struct {
	bytes int64
	_     [56]byte
}

// hashShift returns the right shift of a 64-bit hash that gives an index below n, a power of two.
func hashShift(n int) int { return 64 - bits.TrailingZeros(uint(n)) }

// hashFactor spreads addresses: 2^64 over the golden ratio.
const hashFactor = 0x9E3779B97F4A7C15

// due counts bytes down, and returns the countdown when it has run out. A hash of the address of
// its stack assigns a goroutine its countdown. Two goroutines that share a countdown, which is
// rare, lose each other's counts: with both allocating all the time 0 to 3 % of the samples were
// missing. An atomic store would add 5 ns to a pair of Alloc and FreeSized. Race builds store
// atomically, so that the race detector still reports every other access.
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

// Alloc allocates from the allocator inside.
func (s *Sampled) Alloc(size, align int) (unsafe.Pointer, error) {
	p, err := s.from.Alloc(size, align)
	if err != nil {
		return nil, err
	}
	if c := s.due(size); c != nil {
		s.sample(c, p, size, 0)
	}
	return p, nil
}

// AllocZeroed is Alloc of a zeroed block.
func (s *Sampled) AllocZeroed(size, align int) (unsafe.Pointer, error) {
	p, err := s.more.AllocZeroed(size, align)
	if err != nil {
		return nil, err
	}
	if c := s.due(size); c != nil {
		s.sample(c, p, size, 0)
	}
	return p, nil
}

// ResizeSized resizes by the allocator inside.
func (s *Sampled) ResizeSized(p unsafe.Pointer, size, align, to int) bool {
	if !s.from.ResizeSized(p, size, align, to) {
		return false
	}
	if to == size { // as Zero does, to check that the block is valid
		return true
	}
	if s.blocks.may(p) {
		if b := s.blocks.take(p); b != nil {
			b.frees.Add(1)
		}
	}
	if c := s.due(to); c != nil {
		s.sample(c, p, to, 0)
	}
	return true
}

// ReallocSized reallocates by the allocator inside.
func (s *Sampled) ReallocSized(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	return s.moved(p, size, align, to, false)
}

// ReallocZeroed is ReallocSized with added bytes zero.
func (s *Sampled) ReallocZeroed(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	return s.moved(p, size, align, to, true)
}

// moved takes the record of a block away before the block moves, as freeSampled does.
func (s *Sampled) moved(p unsafe.Pointer, size, align, to int, zeroed bool) (unsafe.Pointer, error) {
	var b *bucket
	if p != nil && s.blocks.may(p) {
		b = s.blocks.take(p)
	}
	stays := true
	defer func() {
		if b != nil && stays {
			s.blocks.put(p, b)
		}
	}()
	q, err := s.realloc(p, size, align, to, zeroed)
	if err != nil || q == p && to == size {
		return q, err
	}
	stays = false
	if b != nil {
		b.frees.Add(1)
	}
	if c := s.due(to); c != nil {
		s.sample(c, q, to, 1)
	}
	return q, nil
}

// FreeSized frees through the allocator inside.
func (s *Sampled) FreeSized(p unsafe.Pointer, size, align int) {
	if s.blocks.may(p) {
		s.freeSampled(p, size, align)
		return
	}
	s.from.FreeSized(p, size, align)
}

// sample restarts the countdown, counts a block and records it. inner is the number of functions of
// this package between it and the one that the program called.
//
//go:noinline
func (s *Sampled) sample(c *countdown, p unsafe.Pointer, size, inner int) {
	left := atomic.LoadInt64(&c.bytes)
	if left >= int64(max(size, 1)) || !atomic.CompareAndSwapInt64(&c.bytes, left, s.profile.next()) {
		return // another goroutine with the same countdown took this sample
	}
	var stack [deepest]uintptr
	depth := runtime.Callers(3+inner, stack[:])
	s.blocks.put(p, s.profile.count(s.name, size, stack[:depth]))
}

// freeSampled removes the record of a block before the block is freed, since another goroutine may
// get the address right after. It restores the record when the free panics.
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
