package heap

import (
	"errors"
	"fmt"
	"unsafe"

	"quarry/internal/universe"
	"quarry/internal/universe/memory"
)

// Resizing by callers that know a block's size and alignment.

// ResizeSized is Heap.ResizeSized of package alloc.
func (h *Heap) ResizeSized(p unsafe.Pointer, size, align, to int) bool {
	return h.resizeSized("Heap.ResizeSized", nil, p, size, align, to)
}

// ResizeSized is Local.ResizeSized of package alloc.
func (l *Local) ResizeSized(p unsafe.Pointer, size, align, to int) bool {
	return l.h.resizeSized("Local.ResizeSized", l, p, size, align, to)
}

func (h *Heap) resizeSized(name string, l *Local, p unsafe.Pointer, size, align, to int) bool {
	h.checkRequest(name, l, to, align)
	b := block{p: p}
	h.find(name, &b)
	h.checkSized(name, &b, size, align)
	// memory.Fits is the test that FreeSized applies to the new size, whatever the alignment.
	return memory.Fits(b.usable, to) || h.resize(l, &b, to)
}

// ReallocSized is Heap.ReallocSized of package alloc.
func (h *Heap) ReallocSized(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	return h.reallocSized("Heap.ReallocSized", nil, p, size, align, to, false)
}

// ReallocZeroed is Heap.ReallocZeroed of package alloc.
func (h *Heap) ReallocZeroed(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	return h.reallocSized("Heap.ReallocZeroed", nil, p, size, align, to, true)
}

// ReallocSized is Local.ReallocSized of package alloc.
func (l *Local) ReallocSized(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	return l.h.reallocSized("Local.ReallocSized", l, p, size, align, to, false)
}

// ReallocZeroed is Local.ReallocZeroed of package alloc.
func (l *Local) ReallocZeroed(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	return l.h.reallocSized("Local.ReallocZeroed", l, p, size, align, to, true)
}

func (h *Heap) reallocSized(name string, l *Local, p unsafe.Pointer, size, align, to int,
	zeroed bool) (unsafe.Pointer, error) {
	switch {
	case p == nil && zeroed:
		return h.alloc(name, l, to, align, universe.ZeroedRun)
	case p == nil:
		return h.alloc(name, l, to, align, universe.AnyRun)
	}
	h.checkRequest(name, l, to, align)
	b := block{p: p}
	h.find(name, &b)
	h.checkSized(name, &b, size, align)
	return h.rehouse(name, l, &b, size, align, to, zeroed)
}

// renamed returns an error of Alloc as one of another method.
//
//go:noinline
func renamed(name string, size int, err error) error {
	return fmt.Errorf("alloc: %s: block of %d bytes: %w", name, size, errors.Unwrap(err))
}
