package alloc

import "sync/atomic"

// Hold reports whether an allocator still has the blocks that a container took from it. Then use of
// the container after Reset or Rewind of an Arena, or after Close of the allocator, panics in every
// build, instead of reading the memory of others:
//
//	arena   | others' | container's block |          Renew: all up to here
//	                                      ^
//	Mark, others' blocks, Rewind: not lost.     Rewind to before the caret: lost.
//
// Blocks that containers on the same arena free do not matter: each container frees its own.
//
// It sees through wrappers (types with a method Unwrap). It does not notice blocks that are freed
// one by one: that is the container's own doing. What it cannot look into counts as open:
// allocators of other modules, and Universe.Allocator, whose universe does not close while chunks
// are in use. Of an arena on another arena it watches the outer. Use HoldOn; the zero Hold panics.
type Hold struct {
	closed   *atomic.Bool // of the heap or the pages below; never nil
	arena    *Arena       // the first on the way down; nil: there is none
	epoch    uint64       // of arena, when position was read
	position uintptr      // of the last byte in arena that counts
}

// neverClosed stands for allocators that Hold cannot look into. Nobody writes it.
var neverClosed atomic.Bool

// HoldOn returns a Hold for a container that has no blocks yet: of an arena it reports that all was
// freed.
func HoldOn(from Allocator) Hold {
	checkAllocator("HoldOn", from)
	h := Hold{closed: &neverClosed}
	for a := from; a != nil; {
		switch v := a.(type) {
		case *Heap:
			h.closed, a = &v.core.Closed, nil
		case *Local:
			h.closed, a = &v.h.core.Closed, nil
		case *Pages:
			h.closed, a = &v.closed, nil
		case *Arena:
			if h.arena == nil {
				h.arena = v
			}
			a = v.from
		case interface{ Unwrap() Allocator }:
			a = v.Unwrap()
		default:
			a = nil
		}
	}
	if a := h.arena; a != nil {
		a.temps = true // the arena records from now on what it gives up
		h.epoch = a.epoch
	}
	return h
}

// Renew makes the Hold cover all blocks allocated until now. A container calls Check before it
// allocates or frees; after it has allocated a block or made one longer, which is the arena's last
// one then, it calls Renew, and after it has freed a block or made one shorter, Freed.
func (h *Hold) Renew() {
	if a := h.arena; a != nil {
		a.temps = true
		h.epoch, h.position = a.epoch, max(a.position(), 1)-1
	}
}

// Freed makes the Hold ignore the end of the arena that the container has just given back.
func (h *Hold) Freed() {
	if a := h.arena; a != nil {
		a.temps = true
		h.epoch, h.position = a.epoch, min(h.position, max(a.position(), 1)-1)
	}
}

// Suspect reports whether Lost is worth a call: the allocator was closed, or its arena has given up
// something since Renew. It is small enough for the compiler to put in place.
func (h *Hold) Suspect() bool {
	return h.closed.Load() || h.arena != nil && h.arena.epoch != h.epoch
}

// Lost reports whether the blocks are gone. Cost: 1 ns; and a binary search of what the arena gave
// up, if it has given up anything since Renew.
func (h *Hold) Lost() bool {
	return h.closed.Load() || h.arena != nil && h.arena.epoch != h.epoch && h.arena.wentBack(h.epoch, h.position)
}

// Check panics if Lost. The panic begins with the name of the function that the caller is: that of
// its package, a colon, and its own.
func (h *Hold) Check(name string) {
	if h.Lost() {
		panicLost(name)
	}
}

//go:noinline
func panicLost(name string) {
	panic(name + ": the allocator was closed, or gave up the blocks (Arena.Reset, Arena.Rewind)")
}
