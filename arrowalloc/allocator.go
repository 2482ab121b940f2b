package arrowalloc

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"quarry/alloc"
)

// A slice of arrow's is its own record of the block behind it.
//
//	b := a.Allocate(100)          b = b[:40]                     b = a.Reallocate(300, b)
//	+---------------+             +------+--------+              +------+-----------------+
//	| 100 B, all 0  |             | 40 B |        |              | 40 B | 260 B, all 0    |
//	+---------------+             +------+--------+              +------+-----------------+
//	len 100, cap 100              len 40, cap 100                len 300, cap 300
//
// Arrow's interface gives back a slice and nothing else, so the size of the block, which an
// alloc.Allocator wants back, must be in the slice. The length cannot carry it: callers shorten
// slices before they free them. The capacity can: it stays as it was until somebody cuts it by a
// slice expression with three indices, and arrow does not.
//
// A1. A slice that Allocate or Reallocate returns has a capacity of exactly the bytes of its block,
// and starts where the block starts. A slice of capacity 0 has no block.
//
// A2. live is the sum of the sizes of live blocks. It changes after the allocator inside has done
// its part, so a refusal or a panic there leaves it right.
//
// A3. Bytes that a caller has not seen are zero: those of a new block, and those between the length
// of the slice that Reallocate is given and the length of the one that it returns.
//
// This file imports nothing of arrow's, as its interface needs no name of it. So arrow's package
// memory can itself import this package, where a copy of arrow runs its own tests on it (see
// bench/others).

// Align is the alignment of every block in bytes: that which the Arrow columnar format recommends,
// and which arrow's own allocators give.
const Align = 64

// TestingT is what AssertSize needs of a *testing.T. It has the methods of arrow's memory.TestingT.
type TestingT interface {
	Errorf(format string, args ...any)
	Helper()
}

// Allocator is a memory.Allocator of arrow-go on an [alloc.Allocator]. Any goroutine may use it if
// any may use the allocator inside. It has the accounting of arrow's CheckedAllocator.
type Allocator struct {
	from alloc.Reallocator
	live atomic.Int64
}

// New returns an Allocator whose blocks come from a, which stays the caller's: a must be open as
// long as arrow holds memory, and the maker of a closes it. New panics when a is nil, and for an
// alloc.Stack or a wrapper around one, as arrow frees in any order.
func New(a alloc.Allocator) *Allocator {
	if a == nil {
		panic("arrowalloc: New: the allocator is nil")
	}
	if alloc.FreesInOrder(a) {
		panic(fmt.Sprintf("arrowalloc: New: a %T frees in order, arrow does not", a))
	}
	return &Allocator{from: alloc.WithRealloc(a)}
}

// Allocate returns size bytes that are zero, aligned to Align, with a capacity of size. Size 0
// gives an empty slice that is not nil and has no block. Allocate panics when size is negative, and
// when the allocator inside refuses: with an error that wraps that of the allocator. Nothing has
// changed then. Cost besides the allocator's: one atomic addition.
func (a *Allocator) Allocate(size int) []byte {
	checkSize("Allocate", size)
	if size == 0 {
		return []byte{}
	}
	p, err := a.from.AllocZeroed(size, Align)
	if err != nil {
		panic(fmt.Errorf("arrowalloc: Allocate: %d bytes: %w", size, err))
	}
	a.live.Add(int64(size))
	return blockAt(p, size)
}

// Reallocate returns a slice of size bytes with the first min(len(b), size) bytes of b; the rest is
// zero. The block grows or shrinks in place or moves, so b must not be used afterwards. A slice
// without a block gets one; size 0 frees the block. Reallocate panics when size is negative, when b
// is not a slice of a live block as far as the allocator inside can tell, and, as Allocate does,
// when the allocator refuses more memory: b is live and unchanged then. Less memory is never
// refused: where the allocator cannot shrink the block, it stays as it is behind a shorter slice.
func (a *Allocator) Reallocate(size int, b []byte) []byte {
	checkSize("Reallocate", size)
	switch {
	case cap(b) == 0:
		return a.Allocate(size)
	case size == 0:
		a.Free(b)
		return []byte{}
	}
	was, known := cap(b), len(b)
	if size != was {
		// Safe because A1 makes the first byte of b that of its block: b has one, its capacity is
		// not 0.
		p, err := a.from.ReallocZeroed(unsafe.Pointer(unsafe.SliceData(b)), was, Align, size)
		if err == nil {
			a.live.Add(int64(size - was))
			b = blockAt(p, size)
		} else if size > was {
			panic(fmt.Errorf("arrowalloc: Reallocate: %d bytes instead of %d: %w", size, was, err))
		}
	}
	b = b[:size]
	if known < size {
		clear(b[known:min(was, size)]) // what lay behind a shortened slice
	}
	return b
}

// Free frees the block behind b, which may have been shortened but must start where it started. A
// slice of capacity 0, such as nil, has no block, and Free does nothing. Free panics when b is not
// a slice of a live block as far as the allocator inside can tell, with a text of the allocator;
// nothing has changed then.
func (a *Allocator) Free(b []byte) {
	if cap(b) == 0 {
		return
	}
	// Safe because A1 makes the first byte of b that of its block.
	a.from.FreeSized(unsafe.Pointer(unsafe.SliceData(b)), cap(b), Align)
	a.live.Add(-int64(cap(b)))
}

// CurrentAlloc returns the bytes of all live blocks, in sizes that were asked for. Any goroutine
// may call it.
func (a *Allocator) CurrentAlloc() int { return int(a.live.Load()) }

// AllocatedBytes is CurrentAlloc under the name that arrow's allocators for C have.
func (a *Allocator) AllocatedBytes() int64 { return a.live.Load() }

// AssertSize fails the test unless size bytes are live: 0 at the end of a test that has released
// everything. Which calls have allocated the rest is known to a wrap.Track below the Allocator.
// AssertSize panics when t is nil.
func (a *Allocator) AssertSize(t TestingT, size int) {
	if t == nil {
		panic("arrowalloc: AssertSize: the test is nil")
	}
	if live := a.CurrentAlloc(); live != size {
		t.Helper()
		t.Errorf("invalid memory size exp=%d, got=%d", size, live)
	}
}

// checkSize panics for a negative size.
func checkSize(call string, size int) {
	if size < 0 {
		panic(fmt.Sprintf("arrowalloc: %s: size=%d is negative", call, size))
	}
}

// blockAt returns the slice of a block of size bytes at p.
func blockAt(p unsafe.Pointer, size int) []byte {
	// Safe because p is a live block of size bytes of the allocator inside, which holds no Go
	// pointers and which nobody else has.
	return unsafe.Slice((*byte)(p), size)
}
