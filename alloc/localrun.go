package alloc

import (
	"unsafe"

	"quarry/internal/debug"
)

// Runs that a Local keeps for reuse. A Local does not free a run of chunks to the universe, it
// keeps it in a list by length, and takes it from there for the next block of that length:
//
//	cached[0] -> run of 1 chunk -> run of 1 chunk      held = 1 + 1 + 3 chunks, at most 512 KiB
//	cached[2] -> run of 3 chunks
//
// For everybody else a kept run is free: its head says so from the compare-and-swap by which Free
// took it on, so a second free of it, by any goroutine, finds no block. Only the Local itself
// changes such a head, by a plain store. When the bound would be exceeded, all kept runs are freed
// first: they are of lengths that the program does not ask for now, or it frees more than it asks
// for. Close, Trim and a refusal of memory to the Local free them too.

// keptChunks bounds the chunks of the runs that a Local keeps.
const keptChunks = 32

// allocLarge is Alloc for blocks that are no slots of a slab.
//
//go:noinline
func (l *Local) allocLarge(size, align int) (unsafe.Pointer, error) {
	// The test of the list comes first: it is cheaper than to tell whether the block is a wide slot.
	if n := uint(size+ChunkSize-1) / ChunkSize; n-1 < keptChunks && l.cached[n-1] != 0 &&
		size > maxSlot && uint(align) <= ChunkSize && align&(align-1) == 0 && !isWide(size, align) {
		return l.takeRun(int(n)), nil
	}
	return l.h.alloc("Local.Alloc", l, size, align, anyRun)
}

// isWide reports whether a block is a slot of a wide slab.
func isWide(size, align int) bool {
	if size > wideClasses[len(wideClasses)-1].size {
		return false
	}
	_, wide := wideFor(size, align)
	return wide
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
	// Safe because the head of a kept run is changed by the Local alone, and store says why a plain
	// store suffices.
	store((*uint64)(unsafe.Pointer(&s.head)), headOf(kindRun, 0, n, ChunkIndex(at-1), 0))
	// Safe because the chunk is one of the heap's.
	p := l.h.u.Pointer(ChunkIndex(at - 1))
	if debug.On {
		poison(p, n*ChunkSize, debug.Fresh)
	}
	return p
}

// keepRun frees the run at p, whose head was read from s, and keeps it. It returns false, and has
// changed nothing, when the run is too long or the head has changed.
//
//go:noinline
func (l *Local) keepRun(p unsafe.Pointer, s *slab, head uint64) bool {
	n := chunksIn(head)
	if n > keptChunks || !s.head.CompareAndSwap(head, head^(kindRun^kindCached)|uint64(l.id)<<headOwner) {
		return false
	}
	if debug.On {
		poison(p, n*ChunkSize, debug.Freed)
	}
	if l.held+n > keptChunks {
		l.dropRuns()
	}
	s.next, l.cached[n-1] = l.cached[n-1], uint32(firstIn(head))+1
	l.held += n
	return true
}

// dropRuns frees the kept runs and reports whether there were any.
func (l *Local) dropRuns() (some bool) {
	for n := 1; n <= keptChunks && l.held > 0; n++ {
		for l.cached[n-1] != 0 {
			c := ChunkIndex(l.cached[n-1] - 1)
			s := l.table.at(c)
			l.cached[n-1], s.next = s.next, 0
			l.held -= n
			s.head.Store(0)
			l.h.u.freeRun(c, n)
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
	c := firstIn(b.head) + ChunkIndex(chunksIn(b.head))
	if c%ChunksPerMegachunk == 0 {
		return false // a block does not grow beyond its megachunk
	}
	head := l.table.at(c).head.Load()
	return head&kindMask == kindCached && ownerIn(head) == l.id && l.dropRuns()
}

// verifyRuns checks the runs that l keeps.
func (v *heapCheck) verifyRuns(l *Local) {
	held := 0
	for i, at := range l.cached {
		for n := i + 1; at != 0 && held <= keptChunks && v.err == nil; held += n {
			s := v.h.table.link(at)
			if want := headOf(kindCached, 0, n, ChunkIndex(at-1), l.id); s.head.Load() != want {
				v.fail("H9: chunk %d, of a run of %d that Local %d keeps, has the head %#x, not %#x", at-1, n, l.id, s.head.Load(), want)
			}
			v.places[s] = "kept"
			at = s.next
		}
	}
	if held != l.held || held > keptChunks {
		v.fail("H9: Local %d keeps runs of %d chunks, counts %d, at most %d", l.id, held, l.held, keptChunks)
	}
}
