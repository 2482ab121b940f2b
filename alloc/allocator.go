package alloc

import (
	"fmt"
	"math/bits"
	"unsafe"

	"quarry/bitmask"
	"quarry/internal/heap"
	"quarry/internal/universe"
	"quarry/internal/universe/memory"
)

// Allocator allocates blocks of bytes. It is implemented by *Heap, *Local, *Arena, *Stack, *Pool,
// *Pages, Universe.Allocator, and the wrappers of package alloc/wrap around any of them. It follows
// Zig's allocator interface: the caller keeps the size and the alignment of a block and passes both
// back with it, so no allocator needs to store them.
//
//   - size is in bytes and not negative. Size 0 gives a block with an address of its own, from every
//     allocator; it is resized and freed like others, and Pool and Universe.Allocator use a whole
//     slot or chunk for it.
//   - align is a power of two up to MaxAlign, or 0, which means 16.
//   - Arguments outside these ranges panic. A block that was not allocated there, or not with that
//     size and alignment, panics wherever the allocator can tell.
//   - Contents are not cleared, neither in new blocks nor in the bytes by which a block grows.
//     AllocZeroed and ReallocZeroed clear for any allocator, New clears its value, MakeSlice its n
//     values, and wrap.Zero everything.
//
// A wrapper outside this module should have a method Unwrap() Allocator, so that FreesInOrder sees
// a Stack through it; Guard, Arena and Pool call FreesInOrder.
//
// Realloc and ReallocZeroed move a block that cannot be resized in place; see Reallocator. Each
// allocator defines whether several goroutines may call it at once; a wrapper allows what the
// allocator inside it allows.
type Allocator interface {
	// Alloc returns a block. An error wraps one of the sentinels of this package, such as ErrFull;
	// nothing has changed then.
	Alloc(size, align int) (unsafe.Pointer, error)

	// ResizeSized changes the size of a live block in place from size to to bytes and reports
	// whether it could. On false the block is unchanged. On true the first min(size, to) bytes keep
	// their contents, and the block's size is to from then on.
	ResizeSized(p unsafe.Pointer, size, align, to int) bool

	// FreeSized frees a live block. A nil p does nothing.
	FreeSized(p unsafe.Pointer, size, align int)
}

// MaxAlign is the largest alignment that a caller may request, in bytes. Some allocators refuse
// smaller alignments with ErrTooBig.
const MaxAlign = memory.MaxAlign

// checkAllocator panics when the allocator passed to the named function is nil.
func checkAllocator(name string, a Allocator) {
	if a == nil {
		panic("alloc: " + name + ": the allocator is nil")
	}
}

// FreesInOrder reports whether a requires blocks to be freed last in, first out: a Stack, or a
// wrapper (a type with a method Unwrap) around one.
func FreesInOrder(a Allocator) bool {
	for {
		switch v := a.(type) {
		case *Stack:
			return true
		case interface{ Unwrap() Allocator }:
			a = v.Unwrap()
		default:
			return false
		}
	}
}

// closer is implemented by the allocators of this package that can be closed.
type closer interface{ isClosed() bool }

func (p *Pages) isClosed() bool { return p.closed.Load() }
func (s *Stack) isClosed() bool { return s.base == nil }
func (a *Arena) isClosed() bool { return a.closed || isClosed(a.from) }

// isClosed reports whether a, or the allocator that a wraps, is closed: blocks of it may belong to
// others by now.
func isClosed(a Allocator) bool {
	for {
		switch v := a.(type) {
		case closer:
			return v.isClosed()
		case interface{ Unwrap() Allocator }:
			a = v.Unwrap()
		default:
			return false
		}
	}
}

// checkBelow panics if the allocator that op takes blocks from is closed.
func checkBelow(op string, from Allocator) {
	if isClosed(from) {
		panic(fmt.Sprintf("alloc: %s: the allocator below is closed (%T); close what takes blocks from it first",
			op, from))
	}
}

// Allocator returns an allocator of whole chunks of the universe. Each block is a run of 16 KiB to
// 1 MiB, aligned to a chunk or, on request, to at most 64 KiB; a larger size or alignment is an
// error that wraps ErrTooBig. A Heap on the universe wastes less and allocates larger blocks. Any
// goroutine may use the allocator, and Universe.Free may free its blocks.
func (u *Universe) Allocator() Allocator { return universeBlocks{&u.core} }

type universeBlocks struct{ u *universe.Universe }

// mostRunAlign is the guaranteed alignment of a universe's base, whatever its pages come from.
const mostRunAlign = 64 << 10

// Alloc claims a run. For an alignment above a chunk it claims a longer run and frees the end.
func (b universeBlocks) Alloc(size, align int) (unsafe.Pointer, error) {
	memory.Check("Universe.Allocator.Alloc", size, align)
	if size > heap.MaxRunBytes || align > mostRunAlign {
		return nil,
			fmt.Errorf("alloc: Universe.Allocator.Alloc: block of %d bytes aligned to %d, the limits are %d and %d: %w",
				size, align, heap.MaxRunBytes, mostRunAlign, ErrTooBig)
	}
	n := universe.ChunksFor(size)
	if align <= ChunkSize {
		first, err := b.u.AllocExact(n)
		if err != nil {
			return nil, err
		}
		return b.u.Pointer(first), nil
	}
	wide := 1 << bits.Len(uint(max(n, align/ChunkSize)-1))
	first, err := b.u.AllocAligned(wide)
	if err != nil {
		return nil, err
	}
	if wide > n {
		b.u.Free(first+ChunkIndex(n), wide-n)
	}
	return b.u.Pointer(first), nil
}

// ResizeSized extends the run in place, or frees its last chunks.
func (b universeBlocks) ResizeSized(p unsafe.Pointer, size, align, to int) bool {
	memory.Check("Universe.Allocator.ResizeSized", to, align)
	first := b.run("ResizeSized", p, size, align)
	have, want := universe.ChunksFor(size), universe.ChunksFor(to)
	if m, at := int(first)/ChunksPerMegachunk, int(first)%ChunksPerMegachunk; !b.u.IsRun(m, at, have) ||
		^b.u.Index.Word(m).Load()&bitmask.Mask(at, have) != 0 {
		panic(
			fmt.Sprintf("alloc: Universe.Allocator.ResizeSized: %p of %d bytes: not all of the %d chunks are in use (freed before?)",
				p, size, have))
	}
	switch {
	case to > heap.MaxRunBytes:
		return false
	case want > have:
		return b.u.Extend(first, have, want-have)
	case want < have:
		b.u.Free(first+ChunkIndex(want), have-want)
	}
	return true
}

// FreeSized frees the run by Universe.Free.
func (b universeBlocks) FreeSized(p unsafe.Pointer, size, align int) {
	if p != nil {
		b.u.Free(b.run("FreeSized", p, size, align), universe.ChunksFor(size))
	}
}

// run returns the first chunk of a block; it panics unless p is the start of a chunk.
func (b universeBlocks) run(op string, p unsafe.Pointer, size, align int) ChunkIndex {
	memory.CheckOp("Universe.Allocator.", op, size, align)
	first, ok := b.u.IndexOf(p)
	if !ok || b.u.Pointer(first) != p || size > heap.MaxRunBytes || uintptr(p)&uintptr(max(align, 1)-1) != 0 {
		panic(fmt.Sprintf("alloc: Universe.Allocator.%s: %p is not a run of chunks of %d bytes aligned to %d",
			op, p, size, align))
	}
	return first
}
