package alloc

import (
	"fmt"
	"math/bits"
	"unsafe"

	"quarry/bitmask"
)

// Allocator is what hands out blocks of bytes: *Heap, *Local, *Arena, *Stack, *Pool,
// *Pages, Universe.Allocator, and the wrappers of package alloc/wrap around any of
// them. It is Zig's interface in Go's words: the caller keeps the size and the
// alignment of a block and gives them back with it, so no allocator need store them.
//
//   - size is in bytes and not negative; 0 gives a block with an address of its own.
//   - align is a power of two up to MaxAlign, or 0, which is 16.
//   - Arguments outside of that panic, as does a block that was not allocated there
//     or not with that size and alignment, wherever the allocator can tell.
//   - Contents are not cleared, neither of new blocks nor of the bytes that a block
//     grows by; New clears, MakeSlice its n values, and wrap.Zero everything.
//
// A wrapper of your own has a method Unwrap() Allocator, so that FreesInOrder sees a
// Stack through it: Guard, Arena and Pool ask.
//
// Whether several goroutines may call it at a time is up to the allocator; wrappers
// allow what the one inside allows.
type Allocator interface {
	// Alloc returns a block. An error wraps one of the sentinels of this package,
	// such as ErrFull, and nothing has changed then.
	Alloc(size, align int) (unsafe.Pointer, error)

	// ResizeSized makes a live block of size bytes one of to bytes where it stands, and
	// reports whether it could; false leaves it as it was. The first min(size, to)
	// bytes keep their contents, and from then on the block's size is to.
	ResizeSized(p unsafe.Pointer, size, align, to int) bool

	// FreeSized gives a live block back. Nil does nothing.
	FreeSized(p unsafe.Pointer, size, align int)
}

// MaxAlign is the greatest alignment that can be asked for, in bytes. Some
// allocators refuse less than that with ErrTooBig.
const MaxAlign = 1 << 30

// checkAllocator panics when the allocator that a function is to use is nil.
func checkAllocator(name string, a Allocator) {
	if a == nil {
		panic("alloc: " + name + ": the allocator is nil")
	}
}

// checkBlock panics unless size and align are such as an Allocator takes.
func checkBlock(name string, size, align int) { checkBlockOp(name, "", size, align) }

// checkBlockOp is checkBlock for a name in two parts, which only a panic joins: that allocates.
func checkBlockOp(of, op string, size, align int) {
	if size < 0 || align < 0 || align&(align-1) != 0 || align > MaxAlign {
		panicBlock(of, op, size, align)
	}
}

//go:noinline
func panicBlock(of, op string, size, align int) {
	panic(fmt.Sprintf("alloc: %s%s: size=%d align=%d: want a size >= 0 and a power of two up to %d",
		of, op, size, align, MaxAlign))
}

// FreesInOrder reports whether a wants its blocks back last in, first out: a Stack, or
// a wrapper (what has a method Unwrap) around one.
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

// ResizeSized is Resize for callers that know size and alignment: it panics, as
// FreeSized does, for a block that cannot have been allocated with them.
func (h *Heap) ResizeSized(p unsafe.Pointer, size, align, to int) bool {
	return h.resizeSized("Heap.ResizeSized", nil, p, size, align, to)
}

// ResizeSized is Heap.ResizeSized.
func (l *Local) ResizeSized(p unsafe.Pointer, size, align, to int) bool {
	return l.h.resizeSized("Local.ResizeSized", l, p, size, align, to)
}

func (h *Heap) resizeSized(name string, l *Local, p unsafe.Pointer, size, align, to int) bool {
	h.checkRequest(name, l, to, align)
	b := block{p: p}
	h.find(name, &b)
	h.checkSized(name, &b, size, align)
	// couldBe is what FreeSized will ask of the new size, whatever the alignment is.
	return b.couldBe(to) || h.resize(&b, to)
}

// Allocator returns the universe's own blocks: each a run of whole chunks, 16 KiB to
// 1 MiB, aligned to a chunk or to as much as 64 KiB. More is an error that wraps
// ErrTooBig. A heap on the universe wastes less and knows larger ones. Any goroutine
// may use it, and its blocks are the runs of Universe.Free.
func (u *Universe) Allocator() Allocator { return universeBlocks{u} }

type universeBlocks struct{ u *Universe }

// mostRunAlign is the alignment of a universe's base wherever its pages come from.
const mostRunAlign = 64 << 10

// Alloc claims a run; for an alignment above a chunk's a longer one, whose end it
// gives back.
func (b universeBlocks) Alloc(size, align int) (unsafe.Pointer, error) {
	checkBlock("Universe.Allocator.Alloc", size, align)
	if size > maxRunBytes || align > mostRunAlign {
		return nil, fmt.Errorf("alloc: Universe.Allocator.Alloc: block of %d bytes aligned to %d, the limits are %d and %d: %w",
			size, align, maxRunBytes, mostRunAlign, ErrTooBig)
	}
	n := chunksFor(size)
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

// ResizeSized takes chunks behind the run, or gives its last ones back.
func (b universeBlocks) ResizeSized(p unsafe.Pointer, size, align, to int) bool {
	checkBlock("Universe.Allocator.ResizeSized", to, align)
	first := b.run("ResizeSized", p, size, align)
	have, want := chunksFor(size), chunksFor(to)
	if m, at := int(first)/ChunksPerMegachunk, int(first)%ChunksPerMegachunk; !b.u.isRun(m, at, have) ||
		^b.u.index.Word(m).Load()&bitmask.Mask(at, have) != 0 {
		panic(fmt.Sprintf("alloc: Universe.Allocator.ResizeSized: %p of %d bytes: not all of the %d chunks are in use (freed before?)", p, size, have))
	}
	switch {
	case to > maxRunBytes:
		return false
	case want > have:
		return b.u.Extend(first, have, want-have)
	case want < have:
		b.u.Free(first+ChunkIndex(want), have-want)
	}
	return true
}

// FreeSized is Universe.Free of the run.
func (b universeBlocks) FreeSized(p unsafe.Pointer, size, align int) {
	if p != nil {
		b.u.Free(b.run("FreeSized", p, size, align), chunksFor(size))
	}
}

// run returns the first chunk of a block, which begins where a chunk does.
func (b universeBlocks) run(op string, p unsafe.Pointer, size, align int) ChunkIndex {
	checkBlockOp("Universe.Allocator.", op, size, align)
	first, ok := b.u.IndexOf(p)
	if !ok || b.u.Pointer(first) != p || size > maxRunBytes || uintptr(p)&uintptr(max(align, 1)-1) != 0 {
		panic(fmt.Sprintf("alloc: Universe.Allocator.%s: %p is not a run of chunks of %d bytes aligned to %d", op, p, size, align))
	}
	return first
}

// chunksFor returns how many chunks a run of size bytes has.
func chunksFor(size int) int { return (max(size, 1) + ChunkSize - 1) / ChunkSize }
