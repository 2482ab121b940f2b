package wrap

import (
	"fmt"
	"unsafe"

	"quarry/alloc"
)

// Fail refuses the requests that its alloc.Failures selects. Allocations, resizes and reallocations
// count as one request each, in the order in which they arrive. Any goroutine that may use the
// allocator inside may use a Fail. alloc.CheckEveryFailure tries each request in turn.
type Fail struct {
	inside
	failures *alloc.Failures
}

// NewFail returns an allocator that passes requests to a unless f refuses them.
func NewFail(a alloc.Allocator, f *alloc.Failures) *Fail {
	in := insideOf("NewFail", a)
	if f == nil {
		panic("wrap: NewFail: the failures are nil")
	}
	return &Fail{inside: in, failures: f}
}

// Alloc allocates from the allocator inside, or returns an error that wraps alloc.ErrInjected.
func (f *Fail) Alloc(size, align int) (unsafe.Pointer, error) {
	if err := f.next(size); err != nil {
		return nil, err
	}
	return f.from.Alloc(size, align)
}

// AllocZeroed is Alloc of a zeroed block.
func (f *Fail) AllocZeroed(size, align int) (unsafe.Pointer, error) {
	if err := f.next(size); err != nil {
		return nil, err
	}
	return f.more.AllocZeroed(size, align)
}

// ReallocSized reallocates by the allocator inside, or returns an error as Alloc does.
func (f *Fail) ReallocSized(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	if err := f.next(to); err != nil {
		return nil, err
	}
	return f.more.ReallocSized(p, size, align, to)
}

// ReallocZeroed is ReallocSized with added bytes zero.
func (f *Fail) ReallocZeroed(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	if err := f.next(to); err != nil {
		return nil, err
	}
	return f.more.ReallocZeroed(p, size, align, to)
}

// next returns the error of a request that is refused.
func (f *Fail) next(size int) error {
	if err := f.failures.Next(); err != nil {
		return fmt.Errorf("wrap: Fail: block of %d bytes: %w", size, err)
	}
	return nil
}

// ResizeSized resizes by the allocator inside, or returns false when f refuses.
func (f *Fail) ResizeSized(p unsafe.Pointer, size, align, to int) bool {
	return f.failures.Next() == nil && f.from.ResizeSized(p, size, align, to)
}

// FreeSized frees through the allocator inside.
func (f *Fail) FreeSized(p unsafe.Pointer, size, align int) { f.from.FreeSized(p, size, align) }
