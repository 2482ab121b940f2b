package alloc

import (
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	"quarry/bitmask"
	"quarry/internal/debug"
	"quarry/mmap"
)

// The protocol.
//
// Terms: a megachunk's mask says which of its 64 chunks are in use. Two
// megachunks are a granule, which is ready (committed) or not. full has one bit
// per megachunk, a hint: "has no free chunk". A gigachunk is the 64 megachunks
// of one word of full.
//
// Allocation claims bits first: one compare-and-swap on the mask makes the run
// ours. Only then is the granule looked at, and committed under a lock when it
// is not ready. When that fails exactly the claimed bits are given back. So a
// mask never holds a bit that nobody owns, there is no state "busy", nobody is
// told "no memory" because somebody else is committing, and a double free is
// always seen, for it finds its bits clear.
//
// Trimming (giving a granule back) is the other side of a handshake. The
// trimmer, under the lock, clears ready and then reads both masks; the
// allocator sets bits in a mask and then reads ready. Both are sequentially
// consistent, so at least one sees the other: a trimmer that finds a bit set
// puts ready back and leaves; an allocator that finds ready clear waits for the
// lock and commits again.
//
// Invariants, checked by Verify when no call is under way:
//
//	I1 A chunk that is in use lies in a granule that is ready.
//	I2 A full bit is set only where the mask is all ones. (While calls are under
//	   way it may be wrong for a moment either way; a search that fails by the
//	   hint looks at every mask before it says so.)
//	I3 The count of ready granules is the number of ready flags, and the pages
//	   layer agrees.
//	I4 The masks beyond the universe's size are all ones.
//	I5 The count of emptied hints is the number of emptied bits.
//
// The original this is taken from marks a megachunk busy by an all-ones mask
// while it commits or frees; docs/decisions/0003 says what that costs.

const (
	// ChunkSize is the size of a chunk in bytes.
	ChunkSize = 16 << 10
	// ChunksPerMegachunk is the number of chunks of a megachunk, and the longest run.
	ChunksPerMegachunk = bitmask.WordBits
	// MegachunkSize is the size of a megachunk in bytes.
	MegachunkSize = ChunkSize * ChunksPerMegachunk
	// MaxSize is the size of the largest universe in bytes: 2^20 chunks.
	MaxSize = ChunkSize << 20

	chunkShift      = 14
	chunksPerGran   = mmap.Granule / ChunkSize
	minFallbackSize = 16 << 20 // smallest universe that the default shrinks to
	heapSize        = 64 << 20 // default where pages come from the Go heap
)

// The sentinels that errors of this package wrap.
var (
	ErrReserve = errors.New("address space refused")
	ErrCommit  = errors.New("memory refused")
	ErrFull    = errors.New("universe is full")
	ErrTooBig  = errors.New("request over the limit")
	ErrInUse   = errors.New("still in use")
)

// pages is what the universe needs of the layer below: *mmap.Region, and in
// tests one that fails on command. It is called once per granule at most.
type pages interface {
	Base() unsafe.Pointer
	Size() int
	Commit(offset, n int) error
	Decommit(offset, n int) error
	Release() error
	Committed() int
}

// ChunkIndex names a chunk of a universe, in 0..2^20-1.
type ChunkIndex uint32

// Universe is a reservation of address space that is handed out in chunks.
type Universe struct {
	base    unsafe.Pointer  // first byte of chunk 0; fixed until Close
	inUse   []bitmask.Word  // one mask per megachunk; set by Alloc, cleared by Free
	full    []bitmask.Word  // hint, one bit per megachunk (I2)
	ready   []atomic.Uint32 // per granule: 1 when committed; written under mu
	emptied []bitmask.Word  // hint, one bit per granule: became empty since the last trim
	nEmpty  atomic.Int32    // number of bits set in emptied (I5)
	asked   int             // bytes wanted at first; more than Size when limits forbade them

	mu     sync.Mutex // held over commits, trims and Close, never on the fast path
	pages  pages      // under mu, but for Base and Size
	nReady int        // granules ready (I3); under mu
	retain int        // empty granules that a trim leaves committed
}

// Option changes how NewUniverse works.
type Option func(*config)

type config struct {
	size   int
	sized  bool
	retain int
	pages  pages
}

// Size sets the size of the universe in bytes, rounded up to 2 MiB, at most
// MaxSize. A size that is set is met or refused; the default, 16 GiB (64 MiB
// where pages come from the Go heap), is halved until the system grants it and
// three times as much is left for the rest of the process.
func Size(bytes int) Option { return func(c *config) { c.size, c.sized = bytes, true } }

// Retain sets how many bytes of emptied memory stay committed after a trim,
// rounded down to 2 MiB granules; default 16 MiB, less than nothing counts as
// nothing. Memory goes back to the system when twice as much is empty.
func Retain(bytes int) Option { return func(c *config) { c.retain = bytes / mmap.Granule } }

// NewUniverse reserves address space. Nothing is committed yet. An error wraps
// ErrReserve, or ErrTooBig for a size that is not in 1..MaxSize, and says which
// size was asked for and how to ask for less.
func NewUniverse(options ...Option) (*Universe, error) {
	c := config{size: defaultSize(), retain: 8}
	for _, o := range options {
		o(&c)
	}
	if c.size < 1 || c.size > MaxSize {
		return nil, fmt.Errorf("alloc: NewUniverse: %d bytes is not in 1..%d (2^20 chunks of 16 KiB): %w", c.size, MaxSize, ErrTooBig)
	}
	asked := c.size
	if c.pages == nil {
		least := c.size
		if !c.sized {
			least = min(least, minFallbackSize)
		}
		region, err := mmap.ReserveUpTo(c.size, least)
		if err != nil {
			return nil, fmt.Errorf("alloc: NewUniverse: %d bytes of address space (ask for less with alloc.Size, or raise the limit that ulimit -v shows): %w: %w",
				asked, ErrReserve, err)
		}
		c.pages = region
	}
	return newUniverse(c, asked), nil
}

func defaultSize() int {
	if mmap.Real {
		return MaxSize
	}
	return heapSize
}

func newUniverse(c config, asked int) *Universe {
	granules := c.pages.Size() / mmap.Granule
	megachunks := c.pages.Size() / MegachunkSize
	u := &Universe{
		base:    c.pages.Base(),
		inUse:   make([]bitmask.Word, megachunks),
		full:    make([]bitmask.Word, (megachunks+63)/64),
		ready:   make([]atomic.Uint32, granules),
		emptied: make([]bitmask.Word, (granules+63)/64),
		asked:   asked,
		pages:   c.pages,
		retain:  max(0, c.retain),
	}
	if beyond := len(u.full)*64 - megachunks; beyond > 0 {
		u.full[len(u.full)-1].TryAllocAt(64-beyond, beyond)
	}
	return u
}

// Alloc hands out a run of n contiguous chunks of one megachunk, n in 1..64. It
// may get fewer: when no run of n is free anywhere it asks for half, and so on
// down to 1. The memory is not cleared. An error wraps ErrFull when no chunk is
// free, ErrCommit when the system refused memory; nothing has changed then. It
// panics unless n is in 1..64.
func (u *Universe) Alloc(n int) (first ChunkIndex, got int, err error) {
	checkCount("Alloc", n)
	for got = n; got > 0; got /= 2 {
		first, ok, err := u.tryAlloc(got, "Alloc")
		if ok || err != nil {
			return first, got, err
		}
	}
	return 0, 0, u.errFull("Alloc", n)
}

// AllocExact is Alloc for callers that cannot use fewer: an error that wraps
// ErrFull means that no run of n chunks is free.
func (u *Universe) AllocExact(n int) (ChunkIndex, error) {
	checkCount("AllocExact", n)
	first, ok, err := u.tryAlloc(n, "AllocExact")
	if !ok && err == nil {
		err = u.errFull("AllocExact", n)
	}
	return first, err
}

func checkCount(name string, n int) {
	if uint(n-1) >= ChunksPerMegachunk {
		panic(fmt.Sprintf("alloc: Universe.%s: n=%d is not in 1..%d", name, n, ChunksPerMegachunk))
	}
}

// tryAlloc claims the first run of n chunks, by the hint, then by looking at
// every mask. ok is false when there was none.
func (u *Universe) tryAlloc(n int, name string) (first ChunkIndex, ok bool, err error) {
	for g := range u.full {
		for open := ^u.full[g].Load(); open != 0; open &= open - 1 {
			m := g*64 + bits.TrailingZeros64(open)
			if first, ok, err = u.claim(m, n, name); ok {
				return first, true, nil
			} else if err != nil {
				return u.tryReady(n, name, err)
			}
		}
	}
	// The hint may have lagged behind a free; the masks never do.
	for m := range u.inUse {
		if first, ok, err = u.claim(m, n, name); ok {
			return first, true, nil
		} else if err != nil {
			return u.tryReady(n, name, err)
		}
	}
	return 0, false, nil
}

// tryReady looks for a run in memory that is committed already, after a commit
// was refused.
func (u *Universe) tryReady(n int, name string, refused error) (first ChunkIndex, ok bool, err error) {
	for m := range u.inUse {
		if u.ready[m/2].Load() == 0 {
			continue
		}
		if first, ok, _ = u.claim(m, n, name); ok {
			return first, true, nil
		}
	}
	return 0, false, refused
}

// claim takes a run of n chunks of megachunk m, and commits its granule when it
// is not ready.
func (u *Universe) claim(m, n int, name string) (first ChunkIndex, ok bool, err error) {
	at, before, ok := u.inUse[m].TryAlloc(n)
	if !ok {
		if before == ^uint64(0) {
			u.markFull(m)
		}
		return 0, false, nil
	}
	if before|bitmask.Mask(at, n) == ^uint64(0) {
		u.markFull(m)
	}
	first = ChunkIndex(m*ChunksPerMegachunk + at)
	if u.ready[m/2].Load() == 0 {
		if err := u.commit(m / 2); err != nil {
			u.unclaim(m, at, n)
			return 0, false, fmt.Errorf("alloc: Universe.%s: %d chunks of 16 KiB: %w: %w", name, n, ErrCommit, err)
		}
	}
	if debug.On {
		debug.Poison(u.bytes(first, n), debug.Fresh)
	}
	return first, true, nil
}

// markFull sets megachunk m's bit and takes it back when the mask has a hole
// again: test, set, test, so that a free between cannot leave a stale bit.
func (u *Universe) markFull(m int) {
	u.full[m/64].SetBit(m % 64)
	if u.inUse[m].Load() != ^uint64(0) {
		u.full[m/64].ClearBit(m % 64)
	}
}

// commit makes granule g ready. Two goroutines may ask for the same one.
func (u *Universe) commit(g int) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ready[g].Load() != 0 {
		return nil
	}
	if err := u.pages.Commit(g*mmap.Granule, mmap.Granule); err != nil {
		return err
	}
	u.nReady++
	u.ready[g].Store(1)
	return nil
}

// Free gives the run of n chunks from first on back. It panics, changing
// nothing, when one of them is not in use, when n is not in 1..64 or when the
// run leaves its megachunk. A part of a run may be freed.
func (u *Universe) Free(first ChunkIndex, n int) {
	m, at := int(first)/ChunksPerMegachunk, int(first)%ChunksPerMegachunk
	if uint(n-1) >= ChunksPerMegachunk || at+n > ChunksPerMegachunk || m >= len(u.inUse) {
		u.badFree(first, n)
	}
	if debug.On && u.inUse[m].Load()&bitmask.Mask(at, n) == bitmask.Mask(at, n) {
		debug.Poison(u.bytes(first, n), debug.Freed)
	}
	if !u.unclaim(m, at, n) {
		u.badFree(first, n)
	}
}

// unclaim clears the bits of a run and keeps the hints true.
func (u *Universe) unclaim(m, at, n int) bool {
	before, ok := u.inUse[m].TryFree(at, n)
	if !ok {
		return false
	}
	if before == ^uint64(0) {
		u.full[m/64].ClearBit(m % 64)
	}
	if before == bitmask.Mask(at, n) && u.inUse[m^1].Load() == 0 {
		u.noteEmpty(m / 2)
	}
	return true
}

//go:noinline
func (u *Universe) badFree(first ChunkIndex, n int) {
	m, at := int(first)/ChunksPerMegachunk, int(first)%ChunksPerMegachunk
	switch {
	case u.inUse == nil:
		panic(fmt.Sprintf("alloc: Universe.Free: chunk %d: the universe is closed", first))
	case uint(n-1) >= ChunksPerMegachunk || at+n > ChunksPerMegachunk || m >= len(u.inUse):
		panic(fmt.Sprintf("alloc: Universe.Free: [%d, %d+%d) is not a run of 1..%d chunks inside one of %d megachunks",
			first, first, n, ChunksPerMegachunk, len(u.inUse)))
	}
	mask := u.inUse[m].Load()
	for i := at; i < at+n; i++ {
		if mask>>uint(i)&1 == 0 {
			panic(fmt.Sprintf("alloc: Universe.Free: chunk %d of [%d, %d) is not in use (freed twice?)",
				m*ChunksPerMegachunk+i, first, int(first)+n))
		}
	}
	panic(fmt.Sprintf("alloc: Universe.Free: a chunk of [%d, %d) was freed by two goroutines at once", first, int(first)+n))
}

func (u *Universe) errFull(name string, n int) error {
	if u.inUse == nil {
		panic(fmt.Sprintf("alloc: Universe.%s: the universe is closed", name))
	}
	return fmt.Errorf("alloc: Universe.%s: no room for %d chunks, %d of %d bytes are in use (a larger universe: alloc.Size): %w",
		name, n, u.Stats().Live, u.Size(), ErrFull)
}

// Size returns the bytes of the universe.
func (u *Universe) Size() int { return len(u.inUse) * MegachunkSize }

// Shrunk returns the size that was wanted at first when limits of the system
// forbade it and a smaller universe was made instead, and 0 otherwise.
func (u *Universe) Shrunk() int {
	if u.asked > u.Size() {
		return u.asked
	}
	return 0
}

// Close ends the universe and parks its address range. It returns an error that
// wraps ErrInUse, and does nothing, while chunks are in use; after an error of
// the system the universe is open and sound, and Close may be called again. No
// other call may be under way.
func (u *Universe) Close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.inUse == nil {
		return nil
	}
	if live := u.liveChunks(); live > 0 {
		return fmt.Errorf("alloc: Universe.Close: %d chunks are in use, free them first: %w", live, ErrInUse)
	}
	// Granule by granule, so that after a refusal the flags are still true.
	for g := range u.ready {
		if _, err := u.decommit(g); err != nil {
			return fmt.Errorf("alloc: Universe.Close: %w", err)
		}
	}
	if err := u.pages.Release(); err != nil {
		return fmt.Errorf("alloc: Universe.Close: %w", err)
	}
	u.base, u.inUse, u.full, u.ready, u.emptied = nil, nil, nil, nil, nil
	u.nEmpty.Store(0)
	return nil
}
