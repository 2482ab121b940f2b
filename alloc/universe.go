package alloc

import (
	"errors"
	"fmt"
	"math/bits"
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
// Terms: a megachunk's mask records which of its 64 chunks are in use. Two megachunks are a
// granule, which is ready (committed) or not. The index (bitmask.Hierarchy) holds the masks and,
// above them, summaries by the length of the longest free run of a mask. A line is the eight masks
// of one cache line.
//
// Allocation claims bits first: one compare-and-swap on the mask makes the run ours. Only then does
// it check the granule, which it commits under a lock when the granule is not ready. When the
// commit fails, exactly the claimed bits are released. So a mask never holds a bit without an
// owner, there is no "busy" state, no caller gets "no memory" because another is committing, and a
// double free is always detected, since it finds its bits clear.
//
// Where to look: a single chunk comes from the home of the goroutine's shard, a megachunk in a line
// that the shard leases (lease.go), so that goroutines on different cores write different lines.
// Runs, and new homes, come from the word that the index calls the best fit. Before a call reports
// that nothing is free it has read every mask, whatever leases and summaries say.
//
// Trimming (decommitting a granule) is the other side of a handshake. The trimmer, under the lock,
// clears ready and then reads both masks; the allocator sets bits in a mask and then reads ready.
// Both are sequentially consistent, so at least one sees the other: a trimmer that finds a bit set
// restores ready and leaves; an allocator that finds ready clear waits for the lock and commits
// again.
//
// Invariants, checked by Verify when no call is under way:
//
//	I1 A chunk that is in use lies in a granule that is ready.
//	I2 The index is true of every megachunk that is not a home: its I6 holds.
//	I3 The count of ready granules equals the number of ready flags, and the pages layer agrees.
//	I4 A chunk that is in use is dirty; no chunk of a granule that is not ready is dirty. A
//	   chunk that is not dirty reads as zero.
//	I5 The count of emptied hints equals the number of emptied bits.
//	I6 A line is leased by a shard exactly when that shard's home lies in it.
//	I7 A chunk that is gone is free and not dirty, and lies in a granule that is ready.
//	I8 The books of granules from reach on are blank. The books lie in a sheet (sheet.go), of
//	   which only the pages that were written take memory, and Close clears the part before reach.
//	I9 The pages layer keeps the pages of one granule small at most. While that is wanted, the fine
//	   granule exists and at most fineMost of its chunks are dirty.
//
// The original design marks a megachunk busy by an all-ones mask while it commits or frees;
// docs/decisions/0003 says what that costs.

const (
	// ChunkSize is the size of a chunk in bytes.
	ChunkSize = 16 << 10
	// ChunksPerMegachunk is the number of chunks in a megachunk, and the length of the longest run.
	ChunksPerMegachunk = bitmask.WordBits
	// MegachunkSize is the size of a megachunk in bytes.
	MegachunkSize = ChunkSize * ChunksPerMegachunk
	// MaxSize is the size of the largest universe in bytes: 2^20 chunks.
	MaxSize = ChunkSize << 20

	chunkShift      = 14
	minFallbackSize = 16 << 20 // smallest universe to which the default shrinks
	heapSize        = 64 << 20 // default size where pages come from the Go heap
)

// These sentinels are wrapped by the errors of this package.
var (
	// errors.md: `ErrReserve` | The system refused addresses, or would have left too few to the Go
	// runtime, as under `ulimit -v`; the text has the limit. | A smaller `alloc.Size`; universes
	// that are closed leave their addresses to others. From a call that makes entities: the records
	// of more than 131,072 lie beside the universe, and there are no addresses for them.

	ErrReserve = errors.New("address space refused") // refused by the system
	// errors.md: `ErrCommit` | The system refused memory, or the budget did. | Free some;
	// `World.Trim`, `Universe.Maintain`.

	ErrCommit = errors.New("memory refused") // refused by the system or the budget
	// errors.md: `ErrFull` | A universe, stack or pool has no room. | A larger `alloc.Size`.

	ErrFull = errors.New("full") // no room in a universe, Stack, Pool or wrap.Limit
	// errors.md: `ErrTooBig` | A request that no room would do for: a size, an alignment, a
	// setting. | The text has the limit.

	ErrTooBig = errors.New("request over the limit") // limit of a size, an alignment or a setting
	// errors.md: `ErrInUse` | `Universe.Close` while others have chunks; the text says which. |
	// Close heaps, tables and worlds on it first.

	ErrInUse = errors.New("still in use") // Close came too early
)

// pages is what the universe needs of package mmap: *mmap.Region, or in tests a type that fails on
// command. Each call covers at most one granule.
type pages interface {
	Base() unsafe.Pointer
	Size() int
	Commit(offset, n int) error
	Decommit(offset, n int) error
	Discard(offset, n int) error
	Fine(offset int, on bool) error
	FineSize() int
	Prefault(offset, n int) error
	Release() error
	Committed() int
	Resident() (int, error)
}

// Universe is a reservation of address space, allocated in chunks.
type Universe struct {
	base     unsafe.Pointer     // first byte of chunk 0; fixed until Close
	index    *bitmask.Hierarchy // the masks, one word per megachunk, and their summaries
	dirty    []atomic.Uint64    // per megachunk: chunks allocated since their granule was committed (I4)
	gone     []atomic.Uint64    // per megachunk: free chunks whose memory was given back (I7); discard.go
	ready    []atomic.Uint32    // per granule: 1 when committed; written under mu
	emptied  []bitmask.Word     // hint, one bit per granule: became empty since the last trim
	since    []atomic.Int64     // per granule: when it was first found empty, in ns since born; 0: not found
	nEmpty   atomic.Int32       // number of bits set in emptied (I5)
	due      atomic.Int64       // when the next purge is due, in ns since born
	born     time.Time          // creation time
	leases   leases             // homes of the shards
	spans    spans              // chunks across megachunks; span.go
	fine     fine               // granule with small pages; fine.go
	reach    atomic.Int32       // above all granules that were asked for; written while commits is held (I8)
	sheet    sheet              // memory of the books above, and of the leased lines
	asked    int                // size requested; more than Size when limits forced a smaller one
	small    bool               // request pages of 4 KiB
	plain    bool               // its size was nobody's choice
	failures *Failures          // refuses requests on purpose; nil: none
	extents  atomic.Int64       // bytes that extents have committed outside the chunks
	closed   bool               // under mu

	commits sync.Mutex // held over one commit and its charge to the budget; taken before mu

	mu     sync.Mutex    // held over commits, trims and Close, never on the fast path
	pages  pages         // under mu, except Base and Size
	nReady int           // number of ready granules (I3); under mu
	retain int           // empty granules that a purge leaves committed
	delay  time.Duration // how long an empty granule stays committed
	idle   []uint64      // per megachunk: chunks that were free at Maintain's last look; nil: none yet
	looked time.Time     // when that was
	whole  bool          // the system cannot give back less than a granule
	keeper keeper        // goroutine that calls Maintain, if any
}

// Option is an option of NewUniverse.
type Option func(*config)

type config struct {
	size     int
	sized    bool
	retain   int
	delay    time.Duration
	small    bool
	pages    pages
	failures *Failures
	plain    bool // the size is the default
}

// Size sets the size of the universe in bytes, rounded up to 2 MiB, at most MaxSize. A size set by
// this option is granted or refused. The default, 16 GiB (64 MiB where pages come from the Go
// heap), is halved, down to 16 MiB, until the system grants it and three times as much is left.
// Address ranges that closed universes parked are reused first. A new range leaves room for the Go
// runtime: see mmap.Reserve.
func Size(bytes int) Option { return func(c *config) { c.size, c.sized = bytes, true } }

// Retain sets how many bytes of empty memory stay committed however long they are empty, rounded
// down to granules of 2 MiB. The default is 16 MiB; a negative value counts as 0. Free returns
// memory to the system only when twice as much is empty (see PurgeAfter); Maintain and Trim return
// retained memory too.
func Retain(bytes int) Option { return func(c *config) { c.retain = bytes / mmap.Granule } }

// PurgeAfter sets how long memory must have been empty before it returns to the system. The default
// is 1 s, so that memory which a program frees and takes again in each round of its work stays
// committed; 0 returns memory at once. Only a Free that empties 2 MiB, and Maintain, check the
// time.
func PurgeAfter(d time.Duration) Option { return func(c *config) { c.delay = max(0, d) } }

// SmallPages requests pages of 4 KiB instead of 2 MiB: sparsely touched memory takes less, at eight
// times the cost of a first touch. By default only small requests to the first granule have them,
// so that a universe of which little is used takes little.
func SmallPages() Option { return func(c *config) { c.small = true } }

// NewUniverse reserves address space; it commits nothing yet. An error wraps ErrReserve, or
// ErrTooBig for a size that is not in 1..MaxSize, and says which size was requested and how to
// request less.
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
	c.plain = c.pages == nil && !c.sized
	if c.pages == nil {
		least, or := c.size, ""
		if !c.sized {
			least = min(least, minFallbackSize)
			or = fmt.Sprintf(", or %d at least", least)
		}
		region, err := mmap.ReserveUpTo(c.size, least)
		if err != nil {
			// errors.md: `bytes of address space... (ask for less with alloc.Size, close universes,
			// or raise the limit that ulimit -v shows)` | The text of `ErrReserve`. | As it says.
			return nil, fmt.Errorf("alloc: NewUniverse: %d bytes of address space%s (ask for less with alloc.Size, close universes, or raise the limit that ulimit -v shows): %w: %w",
				asked, or, ErrReserve, err)
		}
		if c.small {
			// A system without this setting keeps its own page size.
			_ = region.Hint(mmap.SmallPages, true)
		}
		c.pages = region
	}
	return newUniverse(c, asked), nil
}

// checkUniverse panics when the universe passed to the named function is nil.
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
	u := &Universe{
		base:     c.pages.Base(),
		asked:    asked,
		small:    c.small,
		plain:    c.plain,
		failures: c.failures,
		pages:    c.pages,
		retain:   max(0, c.retain),
		delay:    c.delay,
		born:     time.Now(),
	}
	u.open(c.pages.Size() / mmap.Granule)
	u.spans.most = mostOf(u.index.Len())
	u.due.Store(int64(u.delay / 2))
	process.universes.add(u)
	return u
}

// open makes the books of so many granules.
func (u *Universe) open(granules int) {
	megachunks := 2 * granules
	masks := bitmask.HierarchyWords(megachunks * ChunksPerMegachunk)
	notes, lines := (granules+63)/64, linesOf(megachunks)
	u.sheet = books.take(carved(masks, 8) + 2*carved(megachunks, 8) + carved(granules, 8) + carved(notes, 8) +
		carved(granules, 4) + carved(lines, 4))
	s := &u.sheet
	u.index = bitmask.NewHierarchyIn(megachunks*ChunksPerMegachunk, carve[bitmask.Word](s, masks))
	u.dirty = carve[atomic.Uint64](s, megachunks)
	u.gone = carve[atomic.Uint64](s, megachunks)
	u.since = carve[atomic.Int64](s, granules)
	u.emptied = carve[bitmask.Word](s, notes)
	u.ready = carve[atomic.Uint32](s, granules)
	u.leases.reset(carve[atomic.Uint32](s, lines))
}

// shut clears the books and gives their sheet back.
func (u *Universe) shut() {
	g := int(u.reach.Load())
	u.index.Erase(2 * g)
	clear(u.dirty[:2*g])
	clear(u.gone[:2*g])
	clear(u.since[:g])
	clear(u.emptied[:(g+63)/64])
	clear(u.ready[:g])
	clear(u.leases.lines[:linesOf(2*g)])
	books.give(u.sheet)
	u.base, u.index, u.dirty, u.gone, u.idle, u.ready, u.emptied, u.since = nil, bitmask.NewHierarchy(0), nil, nil, nil, nil, nil, nil
	u.sheet = sheet{}
	u.leases.reset(nil)
	u.nEmpty.Store(0)
	u.reach.Store(0)
	u.fine.granule.Store(0)
	u.fine.kept.Store(false)
}

// reached returns the number of granules that were asked for: none beyond has chunks in use or
// memory.
func (u *Universe) reached() int { return int(u.reach.Load()) }

// used returns the number of chunks in use.
func (u *Universe) used() (n int) {
	for m := range 2 * u.reached() {
		n += bits.OnesCount64(u.index.Word(m).Load())
	}
	return n
}

// Alloc allocates a run of n contiguous chunks of one megachunk, n in 1..64, and returns its first
// chunk and its length. When no run of n is free anywhere, it tries half the length, and so on down
// to 1. The memory is not cleared. An error wraps ErrFull when no chunk is free, or ErrCommit when
// the system refused memory and committed memory has no free run of that length; nothing has
// changed then. Alloc panics unless n is in 1..64, and after Close.
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

// AllocZeroed is Alloc of memory that reads as zero. It clears only chunks that were allocated
// before, at about 0.1 us each; fresh chunks are zero already.
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

// AllocExact is Alloc for callers that cannot use a shorter run. An error that wraps ErrFull means
// that no run of n chunks is free.
func (u *Universe) AllocExact(n int) (ChunkIndex, error) { return u.exact(n, anyRun, "AllocExact") }

// AllocAligned is AllocExact of a run whose first chunk is a multiple of n, a power of two, so that
// address arithmetic can tell the chunks of one run from others. It panics when n is not a power of
// two in 1..64.
func (u *Universe) AllocAligned(n int) (ChunkIndex, error) {
	if uint(n-1) >= ChunksPerMegachunk || n&(n-1) != 0 {
		panic(fmt.Sprintf("alloc: Universe.AllocAligned: n=%d is not a power of two in 1..%d", n, ChunksPerMegachunk))
	}
	return u.exact(n, alignedRun, "AllocAligned")
}

// exact is AllocExact with further requirements c.
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

// Extend claims more chunks directly after a run of n chunks that the caller holds, and reports
// whether it could: the chunks must be free and in the same megachunk. They are not cleared. Extend
// panics unless n and more are in 1..64 and the run is in use.
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
	if !ok {
		return false
	}
	u.index.Note(m, before, now)
	// The caller's run lies in the granule, so only a trimmer can have made it not ready, for a
	// moment.
	if u.ready[m/2].Load() == 0 && u.commit(m/2) != nil || !u.refill(m, before^now) {
		u.rollBack(m, at, more)
		return false
	}
	u.handOut(m, before^now, anyRun)
	return true
}

func (u *Universe) errFull(name string, n int) error {
	if u.index.Words() == 0 {
		panic(fmt.Sprintf("alloc: Universe.%s: the universe is closed", name))
	}
	// errors.md: `no room for ... chunks, ... of ... bytes are in use (a larger universe:
	// alloc.Size): ...` | The text of `ErrFull` of a universe. | `Universe.Stats` and
	// `World.Occupancy` say who has it.
	return fmt.Errorf("alloc: Universe.%s: no room for %d chunks, %d of %d bytes are in use (a larger universe: alloc.Size): %w",
		name, n, u.used()*ChunkSize, u.Size(), ErrFull)
}

// Size returns the size of the universe in bytes.
func (u *Universe) Size() int { return u.index.Words() * MegachunkSize }

// Shrunk returns the size that was requested when limits of the system forced a smaller universe,
// and 0 otherwise.
func (u *Universe) Shrunk() int {
	if u.asked > u.Size() {
		return u.asked
	}
	return 0
}

// Close ends the universe and parks its address range for later universes and mappings of any size;
// until the range is reused, a stale pointer faults. While chunks or extents are in use, Close does
// nothing and returns an error that wraps ErrInUse. After an error of the system the universe stays
// open and consistent, and Close may be called again. No other call may be under way.
func (u *Universe) Close() error {
	if err := u.close(); err != nil {
		return err
	}
	u.keeper.end(nil) // without the lock, which the goroutine's last round may wait for
	return nil
}

// usedRuns lists the first runs of chunks in use, as "3, 17-20".
func (u *Universe) usedRuns() string {
	const most = 8
	var runs []string
	for i, units := 0, u.reached()*2*ChunksPerMegachunk; i < units; i++ {
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
	if live := u.used(); live > 0 {
		return fmt.Errorf("alloc: Universe.Close: %d chunks are in use, at %s; first close the heaps, tables and worlds on it and free the rest: %w", live, u.usedRuns(), ErrInUse)
	}
	if bytes := u.extents.Load(); bytes > 0 {
		return fmt.Errorf("alloc: Universe.Close: extents have %d bytes beside the chunks; first close the worlds on it and release the rest: %w", bytes, ErrInUse)
	}
	// Granule by granule, so that the flags are still true after a refusal.
	for g := range u.reached() {
		if _, err := u.decommit(g); err != nil {
			return fmt.Errorf("alloc: Universe.Close: %w", err)
		}
	}
	if err := u.pages.Release(); err != nil {
		return fmt.Errorf("alloc: Universe.Close: %w", err)
	}
	u.closed = true
	process.universes.remove(u)
	u.shut()
	return nil
}
