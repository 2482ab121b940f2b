package wrap

import (
	"unsafe"

	"quarry/alloc"
)

// Zero returns zeroed blocks, and clears the bytes by which a block grows. Any goroutine that may
// use the allocator inside may use a Zero. Cost: a clear of size bytes, 5 ns for 1,000. Memory that
// was never used is not cleared if the allocator inside is an alloc.Reallocator that knows it, as
// Heap, Local and Pages do of large blocks.
type Zero struct {
	inside
	wipe  bool
	parts alloc.Reallocator // its own calls
}

// ZeroOption is an option of NewZero.
type ZeroOption func(*Zero)

// Wipe clears blocks before they are freed, and the bytes that a block loses when it shrinks, so
// that no later owner of the memory, core dump or swap contains secrets. Memory that an allocator
// takes back as a whole, as an Arena does by Reset, is not wiped. Before a free the block is first
// resized to its own size, so that the allocator inside can reject a foreign block before anything
// is written. A shrink copies the lost bytes to the Go heap, and clears the copy afterwards,
// because a refused shrink must leave the block unchanged.
func Wipe() ZeroOption { return func(z *Zero) { z.wipe = true } }

// NewZero returns a Zero around a.
func NewZero(a alloc.Allocator, options ...ZeroOption) *Zero {
	z := &Zero{inside: insideOf("NewZero", a)}
	z.parts = alloc.WithRealloc(byParts{z})
	for _, o := range options {
		if o == nil {
			panic("wrap: NewZero: an option is nil")
		}
		o(z)
	}
	return z
}

// Alloc returns a zeroed block.
func (z *Zero) Alloc(size, align int) (unsafe.Pointer, error) {
	return z.more.AllocZeroed(size, align)
}

// AllocZeroed is Alloc.
func (z *Zero) AllocZeroed(size, align int) (unsafe.Pointer, error) { return z.Alloc(size, align) }

// ReallocSized is ReallocZeroed.
func (z *Zero) ReallocSized(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	return z.ReallocZeroed(p, size, align, to)
}

// ReallocZeroed reallocates by the allocator inside; added bytes read zero. With Wipe a block that
// has to move is copied here, and the old one is wiped.
func (z *Zero) ReallocZeroed(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	if z.wipe {
		return z.parts.ReallocSized(p, size, align, to)
	}
	return z.more.ReallocZeroed(p, size, align, to)
}

// ResizeSized resizes by the allocator inside; added bytes read zero.
func (z *Zero) ResizeSized(p unsafe.Pointer, size, align, to int) bool {
	if z.wipe && 0 <= to && to < size {
		return z.shrink(p, size, align, to)
	}
	ok := z.from.ResizeSized(p, size, align, to)
	if ok {
		zero(p, size, to)
	}
	return ok
}

// shrink wipes before the resize: afterwards the bytes may belong to another block.
func (z *Zero) shrink(p unsafe.Pointer, size, align, to int) bool {
	if !z.from.ResizeSized(p, size, align, size) {
		return false
	}
	// Safe because the block is live and has size bytes.
	lost := unsafe.Slice((*byte)(p), size)[to:]
	kept := append([]byte(nil), lost...)
	zero(p, to, size)
	ok := z.from.ResizeSized(p, size, align, to)
	if !ok {
		copy(lost, kept)
	}
	clear(kept)
	return ok
}

// FreeSized frees through the allocator inside.
func (z *Zero) FreeSized(p unsafe.Pointer, size, align int) {
	// A Stack returns false for a block that is not its last, and FreeSized will panic.
	if z.wipe && p != nil && (z.from.ResizeSized(p, size, align, size) || !alloc.FreesInOrder(z.from)) {
		zero(p, 0, size)
	}
	z.from.FreeSized(p, size, align)
}

// clearStep is the largest number of bytes cleared at once, since one clear cannot be preempted.
const clearStep = 256 << 10

// zero clears the bytes [from, to) of a live block.
func zero(p unsafe.Pointer, from, to int) {
	for at := from; at < to; at += clearStep {
		// Safe because the block is live and has at least to bytes.
		clear(unsafe.Slice((*byte)(unsafe.Add(p, at)), min(clearStep, to-at)))
	}
}
