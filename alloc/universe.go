package alloc

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"quarry/bitmask"
	"quarry/mmap"
)

// The protocol.
//
// Terms: a megachunk's mask says which of its 64 chunks are in use. Two
// megachunks are a granule, which is ready (committed) or not. The index
// (bitmask.Hierarchy) holds the masks and, above them, summaries by the length
// of a mask's longest free run. A line is the eight masks of one cache line.
//
// Allocation claims bits first: one compare-and-swap on the mask makes the run
// ours. Only then is the granule looked at, and committed under a lock when it
// is not ready. When that fails exactly the claimed bits are given back. So a
// mask never holds a bit that nobody owns, there is no state "busy", nobody is
// told "no memory" because somebody else is committing, and a double free is
// always seen, for it finds its bits clear.
//
// Where to look: single chunks come from the home of the goroutine's shard, a
// megachunk in a line that the shard leases (lease.go), so that goroutines on
// different cores write different lines. Runs, and new homes, come from the word
// that the index calls the best fit. Before a call says that nothing is free it
// has looked at every mask, whatever leases and summaries say.
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
//	I2 The index is true of every megachunk that is no home: its I6 holds.
//	I3 The count of ready granules is the number of ready flags, and the pages
//	   layer agrees.
//	I4 A chunk that is in use is dirty; none is in a granule that is not ready.
//	   What is not dirty reads as zero.
//	I5 The count of emptied hints is the number of emptied bits.
//	I6 A line is leased by a shard exactly when that shard's home lies in it.
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
	minFallbackSize = 16 << 20 // smallest universe that the default shrinks to
	heapSize        = 64 << 20 // default where pages come from the Go heap
)

// The sentinels that errors of this package wrap.
var (
	ErrReserve = errors.New("address space refused")  // by the system
	ErrCommit  = errors.New("memory refused")         // by the system or the budget
	ErrFull    = errors.New("full")                   // a universe, Stack, Pool or wrap.Limit
	ErrTooBig  = errors.New("request over the limit") // on a size, an alignment, a setting
	ErrInUse   = errors.New("still in use")           // Close comes too early
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
	Resident() (int, error)
}

// Universe is a reservation of address space that is handed out in chunks.
type Universe struct {
	base     unsafe.Pointer     // first byte of chunk 0; fixed until Close
	index    *bitmask.Hierarchy // the masks, one word per megachunk, and their summaries
	dirty    []atomic.Uint64    // per megachunk: chunks handed out since their granule was committed (I4)
	ready    []atomic.Uint32    // per granule: 1 when committed; written under mu
	emptied  []bitmask.Word     // hint, one bit per granule: became empty since the last trim
	since    []atomic.Int64     // per granule: when Maintain first found it empty, in ns since born; 0: it did not
	nEmpty   atomic.Int32       // number of bits set in emptied (I5)
	due      atomic.Int64       // when the next purge is due, in ns since born
	born     time.Time          // when the universe was made
	leases   leases             // homes of the shards
	asked    int                // bytes wanted at first; more than Size when limits forbade them
	small    bool               // pages of 4 KiB are asked for
	failures *Failures          // refuse on purpose; nil: none
	extents  atomic.Int64       // bytes that extents have committed beside the chunks
	closed   bool               // under mu

	commits sync.Mutex // held over one commit and its charge to the budget; taken before mu

	mu     sync.Mutex    // held over commits, trims and Close, never on the fast path
	pages  pages         // under mu, but for Base and Size
	nReady int           // granules ready (I3); under mu
	retain int           // empty granules that a trim leaves committed
	delay  time.Duration // for how long Maintain leaves an empty granule
	keeper keeper        // goroutine that calls Maintain, if any
}

// Option changes how NewUniverse works.
type Option func(*config)

type config struct {
	size     int
	sized    bool
	retain   int
	delay    time.Duration
	small    bool
	pages    pages
	failures *Failures
}

// Size sets the size of the universe in bytes, rounded up to 2 MiB, at most
// MaxSize. A size that is set is met or refused; the default, 16 GiB (64 MiB
// where pages come from the Go heap), is halved until the system grants it and
// three times as much is left, down to 16 MiB. What closed universes of any size
// parked is used first. A new range leaves room to the Go runtime: see mmap.Reserve.
func Size(bytes int) Option { return func(c *config) { c.size, c.sized = bytes, true } }

// Retain sets how many bytes of emptied memory stay committed however long they
// are empty, rounded down to 2 MiB granules; default 16 MiB, less than nothing
// counts as nothing. Freeing gives memory back by itself when twice as much is
// empty, see PurgeAfter; Maintain and Trim give back retained memory too.
func Retain(bytes int) Option { return func(c *config) { c.retain = bytes / mmap.Granule } }

// PurgeAfter sets for how long memory must have been empty before it goes back to
// the system; default 1 s, so that memory which a program frees and takes again
// in each round of its work stays. 0 gives it back at once. The time is seen by
// frees that empty 2 MiB, and by Maintain.
func PurgeAfter(d time.Duration) Option { return func(c *config) { c.delay = max(0, d) } }

// SmallPages asks the system for pages of 4 KiB instead of 2 MiB: less memory
// for what is touched here and there, at eight times the cost of a first touch.
func SmallPages() Option { return func(c *config) { c.small = true } }

// NewUniverse reserves address space. Nothing is committed yet. An error wraps
// ErrReserve, or ErrTooBig for a size that is not in 1..MaxSize, and says which
// size was asked for and how to ask for less.
func NewUniverse(options ...Option) (*Universe, error) {
	c := config{size: defaultSize(), retain: 8, delay: time.Second}
	for _, o := range options {
		if o == nil {
			panic("alloc: NewUniverse: an option is nil")
		}
		o(&c)
	}
	if c.size < 1 || c.size > MaxSize {
		return nil, fmt.Errorf("alloc: NewUniverse: %d bytes is not in 1..%d (2^20 chunks of 16 KiB): %w", c.size, MaxSize, ErrTooBig)
	}
	asked := c.size
	if c.pages == nil {
		least, or := c.size, ""
		if !c.sized {
			least = min(least, minFallbackSize)
			or = fmt.Sprintf(", or %d at least", least)
		}
		region, err := mmap.ReserveUpTo(c.size, least)
		if err != nil {
			return nil, fmt.Errorf("alloc: NewUniverse: %d bytes of address space%s (ask for less with alloc.Size, close universes, or raise the limit that ulimit -v shows): %w: %w",
				asked, or, ErrReserve, err)
		}
		if c.small {
			// A system that has no such thing keeps its own size of pages.
			_ = region.Hint(mmap.SmallPages, true)
		}
		c.pages = region
	}
	return newUniverse(c, asked), nil
}

// checkUniverse panics when the universe that something is made on is nil.
func checkUniverse(name string, u *Universe) {
	if u == nil {
		panic("alloc: " + name + ": the universe is nil")
	}
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
		base:     c.pages.Base(),
		index:    bitmask.NewHierarchy(megachunks * ChunksPerMegachunk),
		dirty:    make([]atomic.Uint64, megachunks),
		ready:    make([]atomic.Uint32, granules),
		emptied:  make([]bitmask.Word, (granules+63)/64),
		since:    make([]atomic.Int64, granules),
		asked:    asked,
		small:    c.small,
		failures: c.failures,
		pages:    c.pages,
		retain:   max(0, c.retain),
		delay:    c.delay,
		born:     time.Now(),
	}
	u.leases.reset(megachunks)
	u.due.Store(int64(u.delay / 2))
	process.universes.add(u)
	return u
}

// Alloc hands out a run of n contiguous chunks of one megachunk, n in 1..64. It
// may get fewer: when no run of n is free anywhere it asks for half, and so on
// down to 1. The memory is not cleared. An error wraps ErrFull when no chunk is
// free, ErrCommit when the system refused memory and no run of that length was
// free in memory that is there already; nothing has changed then. It panics unless
// n is in 1..64, and after Close.
func (u *Universe) Alloc(n int) (first ChunkIndex, got int, err error) {
	if n == 1 {
		c, shard, ok := u.takeAtHome()
		if !ok {
			c, err = u.findOne(shard, "Alloc")
		}
		return c, 1, err
	}
	return u.alloc(n, anyRun, "Alloc")
}

// AllocZeroed is Alloc of memory that reads as zero. Only chunks that were handed
// out before are cleared, at about 0.1 us each; fresh ones are zero already.
func (u *Universe) AllocZeroed(n int) (first ChunkIndex, got int, err error) {
	return u.alloc(n, zeroedRun, "AllocZeroed")
}

func (u *Universe) alloc(n int, c wish, name string) (first ChunkIndex, got int, err error) {
	checkCount(name, n)
	for got = n; got > 0; got /= 2 {
		if first, err = u.tryAlloc(got, c, name); err != ErrFull {
			return first, got, err
		}
	}
	return 0, 0, u.errFull(name, n)
}

// AllocExact is Alloc for callers that cannot use fewer: an error that wraps
// ErrFull means that no run of n chunks is free.
func (u *Universe) AllocExact(n int) (ChunkIndex, error) { return u.exact(n, anyRun, "AllocExact") }

// AllocAligned is AllocExact of a run whose first chunk is a multiple of n, which
// is a power of two: address arithmetic can then tell chunks of one run from those
// of others. It panics for another n.
func (u *Universe) AllocAligned(n int) (ChunkIndex, error) {
	if uint(n-1) >= ChunksPerMegachunk || n&(n-1) != 0 {
		panic(fmt.Sprintf("alloc: Universe.AllocAligned: n=%d is not a power of two in 1..%d", n, ChunksPerMegachunk))
	}
	return u.exact(n, alignedRun, "AllocAligned")
}

// exact is AllocExact with more wishes.
func (u *Universe) exact(n int, c wish, name string) (ChunkIndex, error) {
	if n == 1 && c&zeroedRun == 0 {
		c, shard, ok := u.takeAtHome()
		if !ok {
			return u.findOne(shard, name)
		}
		return c, nil
	}
	checkCount(name, n)
	first, err := u.tryAlloc(n, c, name)
	if err == ErrFull {
		err = u.errFull(name, n)
	}
	return first, err
}

func checkCount(name string, n int) {
	if uint(n-1) >= ChunksPerMegachunk {
		panic(fmt.Sprintf("alloc: Universe.%s: n=%d is not in 1..%d", name, n, ChunksPerMegachunk))
	}
}

// Extend claims the more chunks behind a run of n chunks that the caller holds,
// and reports whether it got them: they must be free and of the same megachunk.
// They are not cleared.
// It panics unless both n and more are in 1..64 and the run is in use.
func (u *Universe) Extend(first ChunkIndex, n, more int) bool {
	m, at := int(first)/ChunksPerMegachunk, int(first)%ChunksPerMegachunk
	if !u.isRun(m, at, n) || uint(more-1) >= ChunksPerMegachunk || u.index.Word(m).Load()&bitmask.Mask(at, n) != bitmask.Mask(at, n) {
		panic(fmt.Sprintf("alloc: Universe.Extend: [%d, %d+%d) is not a run in use of one megachunk, or more=%d is not in 1..%d",
			first, first, n, more, ChunksPerMegachunk))
	}
	at += n
	if at+more > ChunksPerMegachunk || u.refuse("Extend") != nil {
		return false
	}
	before, now, ok := u.index.Word(m).TryAllocAt(at, more)
	if ok {
		u.index.Note(m, before, now)
		u.handOut(m, before^now, anyRun) // the granule is ready, for the caller's run lies in it
	}
	return ok
}

func (u *Universe) errFull(name string, n int) error {
	if u.index.Words() == 0 {
		panic(fmt.Sprintf("alloc: Universe.%s: the universe is closed", name))
	}
	return fmt.Errorf("alloc: Universe.%s: no room for %d chunks, %d of %d bytes are in use (a larger universe: alloc.Size): %w",
		name, n, u.index.Count()*ChunkSize, u.Size(), ErrFull)
}

// Size returns the bytes of the universe.
func (u *Universe) Size() int { return u.index.Words() * MegachunkSize }

// Shrunk returns the size that was wanted at first when limits of the system
// forbade it and a smaller universe was made instead, and 0 otherwise.
func (u *Universe) Shrunk() int {
	if u.asked > u.Size() {
		return u.asked
	}
	return 0
}

// Close ends the universe and parks its address range, for universes and mappings of
// any size that come later; until then a stale pointer faults. It returns an error that
// wraps ErrInUse, and does nothing, while chunks or extents are in use; after an error of
// the system the universe is open and sound, and Close may be called again. No
// other call may be under way.
func (u *Universe) Close() error {
	if err := u.close(); err != nil {
		return err
	}
	u.keeper.end(nil) // without the lock, which its last round may wait for
	return nil
}

// usedRuns lists the first runs of chunks in use, as "3, 17-20".
func (u *Universe) usedRuns() string {
	const most = 8
	var runs []string
	for i, units := 0, u.index.Len(); i < units; i++ {
		if !u.index.InUse(i) {
			continue
		}
		if len(runs) == most {
			runs = append(runs, "others")
			break
		}
		first := i
		for i+1 < units && u.index.InUse(i+1) {
			i++
		}
		if runs = append(runs, strconv.Itoa(first)); i > first {
			runs[len(runs)-1] += "-" + strconv.Itoa(i)
		}
	}
	return strings.Join(runs, ", ")
}

func (u *Universe) close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return nil
	}
	if live := u.index.Count(); live > 0 {
		return fmt.Errorf("alloc: Universe.Close: %d chunks are in use, at %s; first close the heaps, tables and worlds on it and free the rest: %w", live, u.usedRuns(), ErrInUse)
	}
	if bytes := u.extents.Load(); bytes > 0 {
		return fmt.Errorf("alloc: Universe.Close: extents have %d bytes beside the chunks; first close the worlds on it and release the rest: %w", bytes, ErrInUse)
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
	u.closed = true
	process.universes.remove(u)
	u.base, u.index, u.dirty, u.ready, u.emptied, u.since = nil, bitmask.NewHierarchy(0), nil, nil, nil, nil
	u.leases.reset(0)
	u.nEmpty.Store(0)
	return nil
}
