package alloc

import (
	"iter"
	"time"
	"unsafe"

	"quarry/internal/universe"
)

const (
	// ChunkSize is the size of a chunk in bytes.
	ChunkSize = universe.ChunkSize
	// ChunksPerMegachunk is the number of chunks in a megachunk, and the length of the longest run.
	ChunksPerMegachunk = universe.ChunksPerMegachunk
	// MegachunkSize is the size of a megachunk in bytes.
	MegachunkSize = universe.MegachunkSize
	// MaxSize is the size of the largest universe in bytes: 2^20 chunks.
	MaxSize = universe.MaxSize
)

// ChunkIndex names a chunk of a universe, in 0..2^20-1.
type ChunkIndex = universe.ChunkIndex

// Universe is a reservation of address space, allocated in chunks. Everything but Close and Verify
// may be called by any goroutine.
type Universe struct{ core universe.Universe }

// Option is an option of NewUniverse.
type Option = universe.Option

// Size sets the size of the universe in bytes, rounded up to 2 MiB, at most MaxSize. A size set by
// this option is granted or refused. The default, 16 GiB (64 MiB where pages come from the Go
// heap), is halved, down to 16 MiB, until the system grants it and three times as much is left.
// Address ranges that closed universes parked are reused first. A new range leaves room for the Go
// runtime: see mmap.Reserve.
func Size(bytes int) Option { return universe.Size(bytes) }

// Retain sets how many bytes of empty memory stay committed however long they are empty, rounded
// down to granules of 2 MiB. The default is 16 MiB; a negative value counts as 0. Free returns
// memory to the system only when twice as much is empty (see PurgeAfter); Maintain and Trim return
// retained memory too.
func Retain(bytes int) Option { return universe.Retain(bytes) }

// PurgeAfter sets how long memory must have been empty before it returns to the system. The default
// is 1 s, so that memory which a program frees and takes again in each round of its work stays
// committed; 0 returns memory at once. Only a Free that empties 2 MiB, and Maintain, check the
// time.
func PurgeAfter(d time.Duration) Option { return universe.PurgeAfter(d) }

// SmallPages requests pages of 4 KiB instead of 2 MiB: sparsely touched memory takes less, at eight
// times the cost of a first touch. In a process of more than 16 universes the first 2 MiB of each
// have them by default, for small requests, so that a universe of which little is used takes
// little.
func SmallPages() Option { return universe.SmallPages() }

// NewUniverse reserves address space; it commits nothing yet. An error wraps ErrReserve, or
// ErrTooBig for a size that is not in 1..MaxSize, and has the size that was requested and how to
// request less.
func NewUniverse(options ...Option) (*Universe, error) {
	u := &Universe{}
	if err := u.core.Open(options...); err != nil {
		return nil, err
	}
	return u, nil
}

// inside returns the universe below a universe that was passed to the named function. It panics for
// nil.
func (u *Universe) inside(name string) *universe.Universe {
	if u == nil {
		panic("alloc: " + name + ": the universe is nil")
	}
	return &u.core
}

// Stats describes a universe. Sizes are in bytes.
type Stats struct {
	Reserved int // bytes of address space
	// Bytes of memory promised by the system: granules of 2 MiB, less free chunks that were given
	// back.
	Committed  int
	Live       int    // bytes of chunks in use
	LiveChunks int    // number of chunks in use
	Extents    int    // bytes that extents hold outside the chunks, in reservations of their own
	LongestRun int    // longest run of free chunks inside one megachunk, in chunks
	FreeRuns   [7]int // maximal free runs, by length: 1, 2-3, 4-7, 8-15, 16-31, 32-63, 64 chunks
}

// Size returns the size of the universe in bytes.
func (u *Universe) Size() int { return u.core.Size() }

// Shrunk returns the size that was requested when limits of the system forced a smaller universe,
// and 0 otherwise.
func (u *Universe) Shrunk() int { return u.core.Shrunk() }

// Base returns the address of chunk 0.
func (u *Universe) Base() unsafe.Pointer { return u.core.Base() }

// Pointer returns the address of a chunk. It checks neither that c is a chunk of this universe nor
// that the chunk is in use.
func (u *Universe) Pointer(c ChunkIndex) unsafe.Pointer { return u.core.Pointer(c) }

// IndexOf returns the chunk that p points into, and false when p does not point into this universe.
func (u *Universe) IndexOf(p unsafe.Pointer) (ChunkIndex, bool) { return u.core.IndexOf(p) }

// Bytes returns the memory of the run of n chunks from first on. It panics unless all of them are
// in use and n is in 1..64.
func (u *Universe) Bytes(first ChunkIndex, n int) []byte { return u.core.Bytes(first, n) }

// InUse reports whether a chunk is allocated.
func (u *Universe) InUse(c ChunkIndex) bool { return u.core.InUse(c) }

// Runs iterates over all chunks in use, in rising order, as maximal runs of contiguous chunks of
// one megachunk; adjacent chunks from separate calls form one run. Other goroutines may allocate
// and free meanwhile; each megachunk is read at one instant.
func (u *Universe) Runs() iter.Seq2[ChunkIndex, int] { return u.core.Runs() }

// Alloc allocates a run of n contiguous chunks of one megachunk, n in 1..64, and returns its first
// chunk and its length. When no run of n is free anywhere, it tries half the length, and so on down
// to 1. The memory is not cleared. An error wraps ErrFull when no chunk is free, or ErrCommit when
// the system refused memory and committed memory has no free run of that length; nothing has
// changed then. Alloc panics unless n is in 1..64, and after Close.
func (u *Universe) Alloc(n int) (first ChunkIndex, got int, err error) { return u.core.Alloc(n) }

// AllocZeroed is Alloc of memory that reads as zero. It clears only chunks that were allocated
// before, at about 0.1 us each; fresh chunks are zero already.
func (u *Universe) AllocZeroed(n int) (first ChunkIndex, got int, err error) {
	return u.core.AllocZeroed(n)
}

// AllocExact is Alloc for callers that cannot use a shorter run. An error that wraps ErrFull means
// that no run of n chunks is free.
func (u *Universe) AllocExact(n int) (ChunkIndex, error) { return u.core.AllocExact(n) }

// AllocAligned is AllocExact of a run whose first chunk is a multiple of n, a power of two, so that
// address arithmetic can distinguish the chunks of one run from others. It panics when n is not a
// power of two in 1..64.
func (u *Universe) AllocAligned(n int) (ChunkIndex, error) { return u.core.AllocAligned(n) }

// Extend claims more chunks directly after a run of n chunks that the caller holds, and reports
// whether it could: the chunks must be free and in the same megachunk. They are not cleared. Extend
// panics unless n and more are in 1..64 and the run is in use.
func (u *Universe) Extend(first ChunkIndex, n, more int) bool { return u.core.Extend(first, n, more) }

// Free frees the run of n chunks from first on, which may be part of a longer run. It panics, and
// changes nothing, when a chunk is not in use, when n is not in 1..64 or when the run crosses its
// megachunk. A Free that empties 2 MiB may return other empty memory to the system (see
// PurgeAfter), 8 MiB at most: 10 us for each 2 MiB that was touched, during which commits wait.
func (u *Universe) Free(first ChunkIndex, n int) { u.core.Free(first, n) }

// Prefault sees to it that size bytes of free chunks are committed and backed with pages, those
// that are allocated first, so that what is allocated next waits neither for a commit nor for a
// first touch: 250 us for each page of 2 MiB on Linux, which are the cost of Prefault instead. It
// counts what is there already, and passes over granules that show a file. Goroutines on other
// cores take single chunks from parts of 8 MiB of their own, so allow 8 MiB for each. The memory
// counts as committed, and in the budget, for which Prefault takes no idle memory back. It goes
// back to the system like other empty memory, after a second: a program with a loop that may not
// wait sets a long [PurgeAfter], which also keeps Free from returning memory. Where pages come from
// the Go heap, Prefault only commits.
//
// An error wraps ErrFull when so much is not free, and nothing has changed then; or ErrCommit when
// the system or the budget refused memory, and what was made ready stays. Prefault panics when size
// is negative, and after Close.
func (u *Universe) Prefault(size int) error { return u.core.Prefault(size) }

// Trim returns empty memory to the system, and returns the number of bytes returned. Of the
// granules of 2 MiB without a chunk in use it keeps keep bytes (rounded down, lowest addresses
// first); free chunks of all other granules go. On Linux that splits huge pages. Free and Maintain
// do the same after a delay. An error wraps the system's; memory not returned stays usable.
func (u *Universe) Trim(keep int) (returned int, err error) { return u.core.Trim(keep) }

// Maintain returns to the system the memory that has been empty for the time set by PurgeAfter (1
// s), retained memory included, and returns the number of bytes returned. Free chunks of a granule
// that has chunks in use are returned when they are at least 16. now is the caller's clock, which
// tests may control. Memory counts as empty for the delay when a call at least that much earlier
// found it empty and it was not in use in between. The scavenger does the same by itself, but for
// retained memory (see SetScavenger). An error wraps the system's; memory not returned stays
// usable.
func (u *Universe) Maintain(now time.Time) (returned int, err error) { return u.core.Maintain(now) }

// MaintainEvery starts a goroutine that calls Maintain every d until stop is called or the universe
// is closed. stop waits for the goroutine to end. What the system refuses to take back is retried
// the next time. MaintainEvery panics when d is not positive, and when such a goroutine is running
// already.
func (u *Universe) MaintainEvery(d time.Duration) (stop func()) { return u.core.MaintainEvery(d) }

// Stats returns the statistics of the universe. It reads the masks of the memory that was ever in
// use: about 40 us for 16 GiB with little fragmented free space. While other goroutines allocate,
// the figures are of no single instant.
func (u *Universe) Stats() Stats { return Stats(u.core.Stats()) }

// Resident returns how many bytes of committed memory the system has backed with pages, which is
// what was touched; a huge page counts whole. Of granules that show a file (worlds that were opened
// from one) it counts the pages in the system's cache, also those that other processes read: a file
// that was just written counts whole, though this process has not touched it. The memory of the
// process is known to the system, as VmRSS in /proc/self/status. It is a call of the system, about
// 2 us for each 2 MiB committed. An error wraps mmap.ErrUnsupported on systems that do not report
// this (all but Linux).
func (u *Universe) Resident() (int, error) { return u.core.Resident() }

// Occupancy draws the universe, one character per megachunk and 64 characters per line. It omits
// lines in which nothing is committed.
//
//	.  no memory    -  memory, nothing in use    1 .. 9  tenths in use, rounded up but to 9    #  full
func (u *Universe) Occupancy() string { return u.core.Occupancy() }

// Verify checks the numbered invariants of the universe and returns an error that names the first
// that does not hold. No other call may be under way.
func (u *Universe) Verify() error { return u.core.Verify() }

// Close ends the universe and parks its address range for later universes and mappings of any size;
// until the range is reused, a stale pointer faults. While chunks or extents are in use, Close does
// nothing and returns an error that wraps ErrInUse. After an error of the system the universe stays
// open and consistent, and Close may be called again. No other call may be under way.
func (u *Universe) Close() error { return u.core.Close() }
