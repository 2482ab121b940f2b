package wrap

import (
	"fmt"
	"unsafe"

	"quarry/alloc"
)

// Fail refuses the requests that its alloc.Failures selects. Allocations and resizes count as
// requests, in the order in which they arrive. Any goroutine that may use the allocator inside may
// use a Fail. alloc.CheckEveryFailure tries each request in turn.
type Fail struct {
	from     alloc.Allocator
	failures *alloc.Failures
}

// NewFail returns an allocator that passes requests to a unless f refuses them.
func NewFail(a alloc.Allocator, f *alloc.Failures) *Fail {
	checkInside("NewFail", a)
	if f == nil {
		panic("wrap: NewFail: the failures are nil")
	}
	return &Fail{from: a, failures: f}
}

// Alloc allocates from the allocator inside, or returns an error that wraps alloc.ErrInjected.
func (f *Fail) Alloc(size, align int) (unsafe.Pointer, error) {
	if err := f.failures.Next(); err != nil {
		return nil, fmt.Errorf("wrap: Fail: block of %d bytes: %w", size, err)
	}
	return f.from.Alloc(size, align)
}

// ResizeSized resizes by the allocator inside, or returns false when f refuses.
func (f *Fail) ResizeSized(p unsafe.Pointer, size, align, to int) bool {
	return f.failures.Next() == nil && f.from.ResizeSized(p, size, align, to)
}

// FreeSized frees through the allocator inside.
func (f *Fail) FreeSized(p unsafe.Pointer, size, align int) { f.from.FreeSized(p, size, align) }

// Unwrap returns the allocator inside.
func (f *Fail) Unwrap() alloc.Allocator { return f.from }
