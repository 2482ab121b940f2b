package wrap

import (
	"unsafe"

	"quarry/alloc"
)

// inside is the allocator that a wrapper stands on. What it has besides the methods of an
// alloc.Allocator is looked up once.
type inside struct {
	from alloc.Allocator
	more alloc.Reallocator // from, or what makes a Reallocator of it
}

// insideOf panics when the allocator to be wrapped is nil; otherwise the first Alloc would fail,
// long after the mistake.
func insideOf(name string, a alloc.Allocator) inside {
	if a == nil {
		panic("wrap: " + name + ": the allocator is nil")
	}
	return inside{from: a, more: alloc.WithRealloc(a)}
}

// Unwrap returns the allocator inside.
func (i *inside) Unwrap() alloc.Allocator { return i.from }

// alloc is Alloc or AllocZeroed of the allocator inside.
func (i *inside) alloc(size, align int, zeroed bool) (unsafe.Pointer, error) {
	if zeroed {
		return i.more.AllocZeroed(size, align)
	}
	return i.from.Alloc(size, align)
}

// realloc is ReallocSized or ReallocZeroed of the allocator inside.
func (i *inside) realloc(p unsafe.Pointer, size, align, to int, zeroed bool) (unsafe.Pointer, error) {
	if zeroed {
		return i.more.ReallocZeroed(p, size, align, to)
	}
	return i.more.ReallocSized(p, size, align, to)
}

// byParts is a wrapper whose reallocations are made of its other calls: a resize, or else Alloc, a
// copy and FreeSized.
type byParts struct{ alloc.Allocator }

func (b byParts) Unwrap() alloc.Allocator { return b.Allocator }
