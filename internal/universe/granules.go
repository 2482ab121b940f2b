package universe

import (
	"fmt"
	"os"

	"quarry/internal/universe/ledger"
	"quarry/internal/universe/sentinel"
	"quarry/mmap"
)

// Whole granules, for data that was written to a file in one piece:
//
//	granule   0             1             2             3
//	          | used | free | free        | free        | ...
//	AllocGranules(2)        |<------- chunks 128 to 383 ------->|
//	MapFile                 the same, and their bytes are a file's
//
// The first fit by address is taken, so a new universe gives granule 0. Chunks that the caller does
// not need it frees, like any others: they are dirty (I4), for they have bytes of the file.
//
// Pages of a file that are dropped come back with the file's bytes. So nothing is given back inside
// a granule that shows a file (filed); when all of it is empty, it is decommitted like others, and
// package mmap puts fresh pages there.

// chunksPerGranule is the number of chunks in a granule.
const chunksPerGranule = 2 * ChunksPerMegachunk

// AllocGranules allocates n granules of 2 MiB that follow each other, the first that are empty: 128
// chunks each, from a chunk on whose index is a multiple of 128. Their memory is not cleared. The
// chunks belong to the caller, who frees them in runs, together or apart. An error wraps ErrFull or
// ErrCommit; nothing has changed then. AllocGranules panics when n is less than 1, and after Close.
func (u *Universe) AllocGranules(n int) (ChunkIndex, error) {
	const name = "AllocGranules"
	first, err := u.takeGranules(name, n)
	if err != nil {
		return 0, err
	}
	if err := u.equip(first, n*chunksPerGranule, AnyRun); err != nil {
		u.DropSpan(first, n*chunksPerGranule)
		return 0, fmt.Errorf("alloc: Universe.%s: %d granules of 2 MiB: %w: %w", name, n, sentinel.ErrCommit, err)
	}
	return first, nil
}

// MapFile is AllocGranules of memory that shows a file: the bytes from at on, a multiple of 2 MiB,
// of which the file must have n granules. Pages come in when they are touched, and one that is
// written becomes the process's own, so the file does not change; see mmap.Region.MapFile. The
// granules count as committed, and in the budget, whole. Chunks that are freed keep their bytes
// until they are allocated again; AllocZeroed clears them. Where files cannot be mapped (Windows,
// the Go heap) the error wraps mmap.ErrUnsupported. MapFile also panics when f is nil, and for
// another at.
func (u *Universe) MapFile(n int, f *os.File, at int64) (ChunkIndex, error) {
	const name = "MapFile"
	CheckFile("Universe."+name, f, at)
	first, err := u.takeGranules(name, n)
	if err != nil {
		return 0, err
	}
	if err := u.equipFile(int(first)/chunksPerGranule, n, f, at); err != nil {
		u.DropSpan(first, n*chunksPerGranule)
		return 0, fmt.Errorf("alloc: Universe.%s: %d granules of 2 MiB: %w: %w", name, n, sentinel.ErrCommit, err)
	}
	return first, nil
}

// CheckFile panics unless there is a file and at is a place in it that can be mapped.
func CheckFile(name string, f *os.File, at int64) {
	if f == nil {
		panic("alloc: " + name + ": the file is nil")
	}
	if at < 0 || at%mmap.Granule != 0 {
		panic(fmt.Sprintf("alloc: %s: at=%d is not a multiple of %d from 0 on", name, at, mmap.Granule))
	}
}

// takeGranules claims the first n granules that are empty and follow each other.
func (u *Universe) takeGranules(name string, n int) (ChunkIndex, error) {
	if n < 1 {
		panic(fmt.Sprintf("alloc: Universe.%s: n=%d is less than 1", name, n))
	}
	if err := u.Refuse(name); err != nil {
		return 0, err
	}
	u.releaseKept()
	u.Spans.mu.Lock()
	defer u.Spans.mu.Unlock()
	for g, free := 0, 0; g < len(u.ready); g++ {
		if !u.isEmpty(g) {
			free = 0
			continue
		}
		if free++; free < n {
			continue
		}
		if first := ChunkIndex((g + 1 - n) * chunksPerGranule); u.claimSpan(first, n*chunksPerGranule) {
			return first, nil
		}
		g, free = g-n, 0 // another goroutine took a chunk since: look again
	}
	return 0, u.errFull(name, n*chunksPerGranule)
}

// equipFile makes n claimed granules show a file. Memory that they had from before is given back
// first. On an error the caller drops the claim.
func (u *Universe) equipFile(g, n int, f *os.File, at int64) error {
	u.raise(g + n - 1)
	u.commits.Lock()
	defer u.commits.Unlock()
	if err := ledger.Process.Charge(n * mmap.Granule); err != nil { // without mu, as commit does
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	err := u.vacate(g, n)
	if err == nil {
		err = u.pages.MapFile(g*mmap.Granule, n*mmap.Granule, f, at)
	}
	if err != nil {
		ledger.Process.Refund(n * mmap.Granule)
		return err
	}
	if u.filed == nil {
		u.filed = make([]bool, len(u.ready))
	}
	for i := g; i < g+n; i++ {
		u.dirty[2*i].Store(^uint64(0))
		u.dirty[2*i+1].Store(^uint64(0))
		u.filed[i] = true
		u.ready[i].Store(1)
	}
	u.nReady += n
	return nil
}

// vacate decommits the granules from g to g+n that are ready, all chunks of which the caller has
// claimed. mu is held.
func (u *Universe) vacate(g, n int) error {
	for i := g; i < g+n; i++ {
		u.choosePages(i)
		if u.ready[i].Load() == 0 {
			continue
		}
		u.ready[i].Store(0)
		err := u.pages.Decommit(i*mmap.Granule, mmap.Granule)
		if err != nil && !isAccess(err) {
			u.ready[i].Store(1)
			return err
		}
		u.nReady--
		ledger.Process.Refund(mmap.Granule - u.goneBytes(i))
		u.cleaned(i)
		if err != nil {
			return err
		}
	}
	return nil
}

// isFiled reports whether granule g shows a file. mu is held.
func (u *Universe) isFiled(g int) bool { return u.filed != nil && u.filed[g] }
