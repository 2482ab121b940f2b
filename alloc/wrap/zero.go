package wrap

import (
	"unsafe"

	"quarry/alloc"
)

// Zero hands out blocks that read zero, and clears the bytes that a block grows by.
// Any goroutine may use it that may use the allocator inside. Cost: a clear of size
// bytes, 5 ns for 1,000; above 32 KiB none of memory that was never used, if the allocator
// inside has AllocZeroed, as Heap and Local do, and knows.
type Zero struct {
	from   alloc.Allocator
	zeroed zeroer // from, or nil
	wipe   bool
}

// clearedHere is up to which size AllocZeroed is not asked, in bytes: a heap would have
// to clear the block as well, and its Alloc is 20 ns faster.
const clearedHere = 32 << 10

// zeroer is an allocator that knows by itself which memory is zero.
type zeroer interface {
	AllocZeroed(size, align int) (unsafe.Pointer, error)
}

// ZeroOption changes what NewZero makes.
type ZeroOption func(*Zero)

// Wipe clears blocks before they are freed, and what a block loses when it shrinks,
// so that no later owner of the memory, no core dump and no swap finds secrets there.
// What an allocator takes back as a whole, such as an Arena by a reset, does
// not pass here. First the block is resized to the size that it has, so that the
// allocator inside can refuse one that is not its own before anything is written.
// A shrink costs a copy on the Go heap of what is lost, cleared afterwards, because
// one that is refused must leave the block as it was.
func Wipe() ZeroOption { return func(z *Zero) { z.wipe = true } }

// NewZero clears what a hands out.
func NewZero(a alloc.Allocator, options ...ZeroOption) *Zero {
	checkInside("NewZero", a)
	z := &Zero{from: a}
	z.zeroed, _ = a.(zeroer)
	for _, o := range options {
		if o == nil {
			panic("wrap: NewZero: an option is nil")
		}
		o(z)
	}
	return z
}

// Alloc returns a block of zeros.
func (z *Zero) Alloc(size, align int) (unsafe.Pointer, error) {
	if z.zeroed != nil && size > clearedHere {
		return z.zeroed.AllocZeroed(size, align)
	}
	p, err := z.from.Alloc(size, align)
	if err == nil {
		zero(p, 0, size)
	}
	return p, err
}

// ResizeSized is that of the allocator inside; bytes that are new read zero.
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

// shrink wipes before the resize: behind it the bytes may be someone else's.
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

// FreeSized is that of the allocator inside.
func (z *Zero) FreeSized(p unsafe.Pointer, size, align int) {
	// A Stack that refuses has others on top of the block, and will panic.
	if z.wipe && p != nil && (z.from.ResizeSized(p, size, align, size) || !alloc.FreesInOrder(z.from)) {
		zero(p, 0, size)
	}
	z.from.FreeSized(p, size, align)
}

// Unwrap returns the allocator inside.
func (z *Zero) Unwrap() alloc.Allocator { return z.from }

// clearStep bounds one clear, which cannot be preempted, in bytes.
const clearStep = 256 << 10

// zero clears the bytes [from, to) of a live block.
func zero(p unsafe.Pointer, from, to int) {
	for at := from; at < to; at += clearStep {
		// Safe because the block is live and has at least to bytes.
		clear(unsafe.Slice((*byte)(unsafe.Add(p, at)), min(clearStep, to-at)))
	}
}
