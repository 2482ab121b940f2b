package universe

import (
	"fmt"

	"quarry/bitmask"
	"quarry/internal/debug"
	"quarry/internal/universe/mutant"
)

// Free is Universe.Free of package alloc.
func (u *Universe) Free(first ChunkIndex, n int) {
	m, at := int(first/ChunksPerMegachunk), int(first%ChunksPerMegachunk)
	if n == 1 && m < u.Index.Words() && !debug.On && mutant.Planted == mutant.Healthy {
		before, ok := u.Index.Word(m).FreeOne(at)
		if !ok {
			u.badFree(first, n)
		}
		u.noteFree(m, before, before&^(1<<uint(at)))
		return
	}
	if !u.IsRun(m, at, n) {
		u.badFree(first, n)
	}
	if debug.On && u.Index.Word(m).Load()&bitmask.Mask(at, n) == bitmask.Mask(at, n) {
		debug.Poison(u.Memory(first, n), debug.Freed)
	}
	if !u.unclaim(m, at, n) {
		u.badFree(first, n)
	}
}

// WhileFree calls f while all of megachunk m is claimed, if all of it is free, and reports whether
// it was. Nothing else holds a chunk there, or gets one, before f returns.
func (u *Universe) WhileFree(m int, f func()) bool {
	u.releaseKept()
	before, now, ok := u.Index.Word(m).TryAllocAt(0, ChunksPerMegachunk)
	if !ok {
		return false
	}
	u.Index.Note(m, before, now)
	mutant.Pause()
	f()
	u.unclaim(m, 0, ChunksPerMegachunk)
	return true
}

// unclaim clears the bits of a run and keeps the index and the hints true.
func (u *Universe) unclaim(m, at, n int) bool {
	before, now, ok := u.Index.Word(m).TryFree(at, n)
	mutant.Pause()
	if !ok {
		if mutant.Planted != mutant.UncheckedFree {
			return false
		}
		for i := at; i < at+n; i++ {
			u.Index.Word(m).ClearBit(i)
		}
		now = before &^ bitmask.Mask(at, n)
	}
	u.noteFree(m, before, now)
	return true
}

// noteFree keeps the index and the hints true after chunks of megachunk m were freed.
func (u *Universe) noteFree(m int, before, now uint64) {
	if !u.leases.isHome(m) && mutant.Planted != mutant.ForgetNote {
		u.Index.Note(m, before, now)
	}
	if now == 0 && u.Index.Word(m^1).Load() == 0 {
		u.noteEmpty(m / 2)
	}
}

//go:noinline
func (u *Universe) badFree(first ChunkIndex, n int) {
	m, at := int(first)/ChunksPerMegachunk, int(first)%ChunksPerMegachunk
	switch {
	case u.Index.Words() == 0:
		panic(fmt.Sprintf("alloc: Universe.Free: chunk %d: the universe is closed", first))
	case !u.IsRun(m, at, n):
		panic(fmt.Sprintf("alloc: Universe.Free: [%d, %d+%d) is not a run of 1..%d chunks inside one of %d megachunks",
			first, first, n, ChunksPerMegachunk, u.Index.Words()))
	}
	mask := u.Index.Word(m).Load()
	for i := at; i < at+n; i++ {
		if mask>>uint(i)&1 == 0 {
			panic(fmt.Sprintf("alloc: Universe.Free: chunk %d of [%d, %d) is not in use (freed twice?)",
				m*ChunksPerMegachunk+i, first, int(first)+n))
		}
	}
	panic(fmt.Sprintf("alloc: Universe.Free: a chunk of [%d, %d) was freed by two goroutines at once",
		first, int(first)+n))
}
