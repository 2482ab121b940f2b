package container

import (
	"fmt"
	"unsafe"

	"quarry/alloc"
	"quarry/layout"
)

// source is where a container's blocks come from. Every container has one.
type source struct {
	from   alloc.Reallocator // nil: the container was not made by its New function
	hold   alloc.Hold        // of the container's blocks
	closed bool
}

// newSource returns the source of a container that the named function makes.
func newSource(name string, from alloc.Allocator) source {
	if from == nil {
		panic("container: " + name + ": the allocator is nil")
	}
	if alloc.FreesInOrder(from) {
		panic(fmt.Sprintf("container: %s: the allocator frees in order (%T), a container does not", name, from))
	}
	return source{from: alloc.WithRealloc(from), hold: alloc.HoldOn(from)}
}

// check panics if the container cannot be used. Cost: 1 ns.
func (s *source) check(name string) {
	if s.from == nil || s.closed || s.hold.Suspect() {
		s.refuse(name)
	}
}

//go:noinline
func (s *source) refuse(name string) {
	switch {
	case s.from == nil:
		panic("container: " + name + ": the container was not made by its New function")
	case s.closed:
		panic("container: " + name + ": the container is closed")
	}
	s.hold.Check("container: " + name)
}

// alloc allocates a block, after check.
func (s *source) alloc(size, align int) (unsafe.Pointer, error) {
	p, err := s.from.Alloc(size, align)
	if err == nil {
		s.hold.Renew()
	}
	return p, err
}

// realloc changes the size of a block, or allocates one if p is nil, after check.
func (s *source) realloc(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	q, err := s.from.ReallocSized(p, size, align, to)
	s.resized(p, q, size, to, err)
	return q, err
}

// reallocZeroed is realloc with added bytes zero.
func (s *source) reallocZeroed(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	q, err := s.from.ReallocZeroed(p, size, align, to)
	s.resized(p, q, size, to, err)
	return q, err
}

// resized renews the hold after a block of size bytes at p became one of to bytes at q.
func (s *source) resized(p, q unsafe.Pointer, size, to int, err error) {
	if err == nil && (p != q || to > size) {
		s.hold.Renew()
	} else if err == nil {
		s.hold.Freed()
	}
}

// free frees a block, after check.
func (s *source) free(p unsafe.Pointer, size, align int) {
	s.from.FreeSized(p, size, align)
	s.hold.Freed()
}

// pointerFree returns an error of the named function unless T holds no Go pointers.
func pointerFree[T any](name string) error {
	if err := layout.PointerFreeFor[T](); err != nil {
		return fmt.Errorf("container: %s: %w; what lies off the heap must hold no Go pointers", name, err)
	}
	return nil
}
