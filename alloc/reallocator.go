package alloc

import (
	"fmt"
	"unsafe"

	"quarry/internal/heap"
	"quarry/internal/universe"
	"quarry/internal/universe/memory"
)

// Zeroed blocks, and blocks that move when they cannot grow.
//
//	            has room behind it            has none
//	            +-------+---------+           +-------+
//	in place    | block | cleared |   moved   | block |  freed
//	            +-------+---------+           +-------+
//	            p       size      to              | copied
//	                                          +---v---+---------+
//	                                          | block | cleared |
//	                                          +-------+---------+
//
// An allocator that knows more than its callers has methods of its own: a Heap looks a block up
// once instead of three times, and does not clear memory that the system has just cleared. For any
// other allocator the functions here do the same with the three methods of Allocator.

// Reallocator is an Allocator that clears and moves blocks itself. *Heap, *Local, *Pages,
// Universe.Allocator and all wrappers of package alloc/wrap are Reallocators; WithRealloc makes one
// of any other Allocator.
//
// The rules of Allocator hold, and sizes of 0 are as good as others: size 0 in any call means a
// block with an address of its own, never a free.
//
// A type that embeds an allocator and changes its Alloc has to change these three too, or must
// embed the interface Allocator, which does not have them.
type Reallocator interface {
	Allocator

	// AllocZeroed is Alloc of a block whose first size bytes are zero.
	AllocZeroed(size, align int) (unsafe.Pointer, error)

	// ReallocSized changes the size of a live block from size to to bytes, in place or by moving
	// it, and returns its address. The first min(size, to) bytes keep their contents; added bytes
	// are not cleared. The alignment stays align. A nil p allocates to bytes, whatever size is. On
	// an error the block is live and unchanged at p; otherwise only the returned address is valid.
	ReallocSized(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error)

	// ReallocZeroed is ReallocSized with added bytes zero.
	ReallocZeroed(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error)
}

// WithRealloc returns a as a Reallocator: a itself when it is one, otherwise an allocator around it
// whose methods are AllocZeroed, Realloc and ReallocZeroed of this package. It looks once, for
// those who make many calls.
func WithRealloc(a Allocator) Reallocator {
	checkAllocator("WithRealloc", a)
	if r, ok := a.(Reallocator); ok {
		return r
	}
	return reallocating{a}
}

// reallocating gives an Allocator the methods of a Reallocator.
type reallocating struct{ Allocator }

func (r reallocating) Unwrap() Allocator { return r.Allocator }

func (r reallocating) AllocZeroed(size, align int) (unsafe.Pointer, error) {
	return allocZeroed(r.Allocator, size, align)
}

func (r reallocating) ReallocSized(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	return realloc(r.Allocator, p, size, align, to, false)
}

func (r reallocating) ReallocZeroed(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	return realloc(r.Allocator, p, size, align, to, true)
}

// AllocZeroed returns a block of a whose first size bytes are zero, by a's own method when a is a
// Reallocator, otherwise by Alloc and a clear. Errors and panics are those of a. Cost besides a's:
// up to 2 ns to find the method, and a clear of size bytes.
func AllocZeroed(a Allocator, size, align int) (unsafe.Pointer, error) {
	checkAllocator("AllocZeroed", a)
	if r, ok := a.(Reallocator); ok {
		return r.AllocZeroed(size, align)
	}
	return allocZeroed(a, size, align)
}

func allocZeroed(a Allocator, size, align int) (unsafe.Pointer, error) {
	p, err := a.Alloc(size, align)
	if err == nil {
		memory.Zero(p, size)
	}
	return p, err
}

// Realloc changes the size of a live block of a from size to to bytes, in place or by moving it,
// and returns its address: Reallocator.ReallocSized when a has it, otherwise ResizeSized or else
// Alloc, a copy and FreeSized. Errors and panics are those of a. A block of a Stack, or of a
// wrapper around one, does not move; when it cannot change in place the error wraps ErrFull.
func Realloc(a Allocator, p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	checkAllocator("Realloc", a)
	if r, ok := a.(Reallocator); ok {
		return r.ReallocSized(p, size, align, to)
	}
	return realloc(a, p, size, align, to, false)
}

// ReallocZeroed is Realloc with added bytes zero. Cost besides Realloc's: a clear of to - size
// bytes.
func ReallocZeroed(a Allocator, p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	checkAllocator("ReallocZeroed", a)
	if r, ok := a.(Reallocator); ok {
		return r.ReallocZeroed(p, size, align, to)
	}
	return realloc(a, p, size, align, to, true)
}

// realloc reallocates by the three methods of an Allocator.
func realloc(a Allocator, p unsafe.Pointer, size, align, to int, zeroed bool) (unsafe.Pointer, error) {
	switch {
	case p == nil && zeroed:
		return AllocZeroed(a, to, align)
	case p == nil:
		return a.Alloc(to, align)
	case a.ResizeSized(p, size, align, to): // which panics for a wrong block or size
		if zeroed && to > size {
			// Safe because the block has to bytes.
			memory.Zero(unsafe.Add(p, size), to-size)
		}
		return p, nil
	case FreesInOrder(a):
		return nil, fmt.Errorf("alloc: Realloc: a block of %d bytes to %d, in a stack, where blocks do not move: %w",
			size, to, ErrFull)
	}
	q, err := a.Alloc(to, align)
	if err != nil {
		return nil, err
	}
	moved := false
	defer func() {
		if !moved { // the free panics, for example in a wrapper that finds the block damaged
			a.FreeSized(q, to, align)
		}
	}()
	memory.Move(q, p, min(size, to))
	if zeroed && to > size {
		// Safe because the block has to bytes.
		memory.Zero(unsafe.Add(q, size), to-size)
	}
	a.FreeSized(p, size, align)
	moved = true
	return q, nil
}

// AllocZeroed is Alloc of a block whose first size bytes are zero. Only a mapping that was kept is
// cleared.
func (p *Pages) AllocZeroed(size, align int) (unsafe.Pointer, error) {
	p.check("Pages.AllocZeroed", size, align)
	return p.zeroed("Pages.AllocZeroed", 0, size, align)
}

// zeroed returns a block whose bytes from offset from on are zero.
func (p *Pages) zeroed(name string, from, size, align int) (unsafe.Pointer, error) {
	at, fresh, err := p.mappings.Alloc(name, size, align)
	if err == nil && !fresh && from < size {
		// Safe because the block has size bytes.
		memory.Zero(unsafe.Add(at, from), size-from)
	}
	return at, err
}

// ReallocSized resizes a block in place as ResizeSized does, or else moves it.
func (p *Pages) ReallocSized(at unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	return p.realloc("Pages.ReallocSized", at, size, align, to, false)
}

// ReallocZeroed is ReallocSized with added bytes zero. Pages that were just committed are not
// cleared again.
func (p *Pages) ReallocZeroed(at unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	return p.realloc("Pages.ReallocZeroed", at, size, align, to, true)
}

func (p *Pages) realloc(name string, at unsafe.Pointer, size, align, to int, zeroed bool) (unsafe.Pointer, error) {
	p.check(name, to, align)
	dirty := to // bytes from here on are cleared
	if at == nil && zeroed {
		dirty = 0
	} else if zeroed {
		dirty = min(size, to)
	}
	if at == nil {
		return p.zeroed(name, dirty, to, align)
	}
	p.find(name, at, size, align)
	usable, _, _ := p.mappings.Lookup(at)
	if p.mappings.Resize(at, to, true) {
		if end := min(to, usable); dirty < end { // pages committed since read zero
			// Safe because the block has to bytes.
			memory.Zero(unsafe.Add(at, dirty), end-dirty)
		}
		return at, nil
	}
	q, err := p.zeroed(name, dirty, to, align)
	if err != nil {
		return nil, err
	}
	memory.Move(q, at, min(size, to))
	p.mappings.Free(name, at)
	return q, nil
}

// AllocZeroed is Alloc of a run that reads as zero. Runs that are aligned to no more than a chunk
// are cleared only where they were in use before.
func (b universeBlocks) AllocZeroed(size, align int) (unsafe.Pointer, error) {
	memory.Check("Universe.Allocator.AllocZeroed", size, align)
	if size > heap.MaxRunBytes || align > ChunkSize {
		return allocZeroed(b, size, align)
	}
	first, err := b.u.Exact(universe.ChunksFor(size), universe.ZeroedRun, "AllocExact")
	if err != nil {
		return nil, err
	}
	return b.u.Pointer(first), nil
}

// ReallocSized extends the run in place, frees its last chunks, or moves it.
func (b universeBlocks) ReallocSized(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	return realloc(b, p, size, align, to, false)
}

// ReallocZeroed is ReallocSized with added bytes zero.
func (b universeBlocks) ReallocZeroed(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	return realloc(b, p, size, align, to, true)
}
