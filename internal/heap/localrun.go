package heap

import (
	"unsafe"

	"quarry/internal/debug"
	"quarry/internal/universe"
	"quarry/internal/universe/memory"
)

// Runs that a Local keeps for reuse. A Local does not free a run of chunks to the universe, it
// keeps it in a list by length, and takes it from there for the next block of that length:
//
//	cached[0] -> run of 1 chunk -> run of 1 chunk      held = 1 + 1 + 3 chunks, at most 256 KiB
//	cached[2] -> run of 3 chunks
//
// For everybody else a kept run is free: its head has that state from the compare-and-swap by which
// Free took it on, so a second free of it, by any goroutine, finds no block. Only the Local itself
// changes such a head, by a plain store. When the bound would be exceeded, all kept runs are freed
// first: the program does not request their lengths now, or it frees more than it requests. Close,
// Trim and a refusal of memory to the Local free them too.

// keptChunks bounds the chunks of the runs that a Local keeps.
const keptChunks = 16

// allocLarge is Alloc for blocks that are no slots of a slab.
//
//go:noinline
func (l *Local) allocLarge(size, align int) (unsafe.Pointer, error) {
	n := uint(size+universe.ChunkSize-1) / universe.ChunkSize
	if l.held > 0 && n-1 < keptChunks && size > maxSlot && uint(align) <= universe.ChunkSize && align&(align-1) == 0 {
		var p unsafe.Pointer
		if number, ok := wideIn(size, align); ok {
			p = l.takeWide(number)
		} else {
			p = l.takeRun(int(n))
		}
		if p != nil {
			return p, nil
		}
	}
	return l.h.alloc("Local.Alloc", l, size, align, universe.AnyRun)
}

// wideIn is wideFor, and recognizes large blocks at once.
func wideIn(size, align int) (int, bool) {
	if size > wideClasses[len(wideClasses)-1].size {
		return 0, false
	}
	return wideFor(size, align)
}

// takeRun returns a kept run of n chunks, or nil.
func (l *Local) takeRun(n int) unsafe.Pointer {
	if n > keptChunks || l.cached[n-1] == 0 {
		return nil
	}
	at := l.cached[n-1]
	s := l.table.link(at)
	l.cached[n-1], s.next = s.next, 0
	l.held -= n
	// Safe because the head of a kept run is changed by the Local alone, and the comment of store
	// has the reason why a plain store suffices.
	store((*uint64)(unsafe.Pointer(&s.head)), headOf(kindRun, 0, n, universe.ChunkIndex(at-1), 0))
	// Safe because the chunk is one of the heap's.
	p := l.h.u.Pointer(universe.ChunkIndex(at - 1))
	if debug.On {
		memory.Poison(p, n*universe.ChunkSize, debug.Fresh)
	}
	return p
}

// keep frees the block at p and keeps it, if it is a run or a wide slot; s is the slab of its chunk
// and head what was read from it. It returns false, and has changed nothing, when it cannot.
//
//go:noinline
func (l *Local) keep(p unsafe.Pointer, s *slab, head uint64) bool {
	switch head & kindMask {
	case kindRun:
		return (uintptr(p)-l.base)%universe.ChunkSize == 0 && l.keepRun(p, s, head)
	case kindWide, kindInterior:
		return l.keepWide(p, head)
	}
	return false
}

// reserve makes room for n chunks among what is kept, and counts them.
func (l *Local) reserve(n int) {
	if l.held+n > keptChunks {
		l.dropKept()
	}
	l.held += n
}

// dropKept frees all blocks that are kept and reports whether there were any. The heap's lock is
// not held.
func (l *Local) dropKept() bool {
	some := l.dropRuns()
	return l.held > 0 && l.dropWide() || some
}

// keepRun is keep for a run. It returns false when the run is too long or the head has changed.
func (l *Local) keepRun(p unsafe.Pointer, s *slab, head uint64) bool {
	n := chunksIn(head)
	if n > keptChunks || !s.head.CompareAndSwap(head, head^(kindRun^kindCached)|uint64(l.id)<<headOwner) {
		return false
	}
	if debug.On {
		memory.Poison(p, n*universe.ChunkSize, debug.Freed)
	}
	l.reserve(n)
	s.next, l.cached[n-1] = l.cached[n-1], uint32(firstIn(head))+1
	return true
}

// dropRuns frees the kept runs and reports whether there were any.
func (l *Local) dropRuns() (some bool) {
	for n := 1; n <= keptChunks && l.held > 0; n++ {
		for l.cached[n-1] != 0 {
			c := universe.ChunkIndex(l.cached[n-1] - 1)
			s := l.table.at(c)
			l.cached[n-1], s.next = s.next, 0
			l.held -= n
			s.head.Store(0)
			l.h.u.FreeRun(c, n)
			some = true
		}
	}
	return some
}

// dropBehind frees the kept runs when one of them lies behind the block, in the way of its growth,
// and reports whether that is so.
func (l *Local) dropBehind(b *block) bool {
	if b.h != l.h || b.kind() != kindRun || l.held == 0 {
		return false
	}
	c := firstIn(b.head) + universe.ChunkIndex(chunksIn(b.head))
	if int(c) >= len(l.table)*universe.ChunksPerMegachunk {
		return false
	}
	s := l.table.at(c)
	if s == nil {
		return false // the heap has no slab in that megachunk
	}
	head := s.head.Load()
	return head&kindMask == kindCached && ownerIn(head) == l.id && l.dropRuns()
}

// verifyRuns checks the runs that l keeps.
func (v *heapCheck) verifyRuns(l *Local) {
	held := v.verifyWide(l)
	for i, at := range l.cached {
		for n := i + 1; at != 0 && held <= keptChunks && v.err == nil; held += n {
			s := v.h.table.link(at)
			if want := headOf(kindCached, 0, n, universe.ChunkIndex(at-1), l.id); s.head.Load() != want {
				v.fail("H9: chunk %d, of a run of %d that Local %d keeps, has the head %#x, not %#x",
					at-1, n, l.id, s.head.Load(), want)
			}
			v.places[s] = "kept"
			at = s.next
		}
	}
	if held != l.held || held > keptChunks {
		v.fail("H9: Local %d keeps blocks of %d chunks, counts %d, at most %d", l.id, held, l.held, keptChunks)
	}
}
