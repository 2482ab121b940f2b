package universe

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"quarry/bitmask"
	"quarry/internal/universe/ledger"
	"quarry/internal/universe/memory"
	"quarry/internal/universe/registry"
	"quarry/internal/universe/sentinel"
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
// double free is detected, since it finds its bits clear, unless the chunks are in use again.
//
// Where to look: a single chunk comes from the home of the goroutine's shard, a megachunk in a line
// that the shard leases (masklease.go), so that goroutines on different cores write different
// lines. Runs, and new homes, come from the word that the index calls the best fit. Before a call
// reports that nothing is free it has read every mask, whatever leases and summaries have.
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
//	I8 The metadata of granules from reach on is blank. The metadata lies in a block of its own (metadatablock.go), of
//	   which only the pages that were written take memory, and Close clears the part before reach.
//	I9 The pages layer keeps the pages of one granule small at most. While that is wanted, the fine
//	   granule exists and at most fineMost of its chunks are dirty.
//	I10 A granule that shows a file is ready.
//	I11 The chunks that are kept (kept.go) are in use in the masks, each once.
//
// The original design marks a megachunk busy by an all-ones mask while it commits or frees;
// docs/decisions/0003 has the cost.

const (
	// ChunkSize is the size of a chunk in bytes.
	ChunkSize = 16 << 10
	// ChunksPerMegachunk is the number of chunks in a megachunk, and the length of the longest run.
	ChunksPerMegachunk = bitmask.WordBits
	// MegachunkSize is the size of a megachunk in bytes.
	MegachunkSize = ChunkSize * ChunksPerMegachunk
	// MaxSize is the size of the largest universe in bytes: 2^20 chunks.
	MaxSize = ChunkSize << 20

	// ChunkShift is log2 of ChunkSize.
	ChunkShift = 14

	minFallbackSize = 16 << 20 // smallest universe to which the default shrinks
	heapSize        = 64 << 20 // default size where pages come from the Go heap
)

// Universe is a reservation of address space, allocated in chunks.
type Universe struct {
	base          unsafe.Pointer     // first byte of chunk 0; fixed until Close
	Index         *bitmask.Hierarchy // the masks, one word per megachunk, and their summaries
	dirty         []atomic.Uint64    // per megachunk: chunks allocated since their granule was committed (I4)
	gone          []atomic.Uint64    // per megachunk: free chunks whose memory was given back (I7); discard.go
	ready         []atomic.Uint32    // per granule: 1 when committed; written under mu
	emptied       []bitmask.Word     // hint, one bit per granule: became empty since the last trim
	since         []atomic.Int64     // per granule: when it was first found empty, in ns since born; 0: not found
	nEmpty        atomic.Int32       // number of bits set in emptied (I5)
	due           atomic.Int64       // when the next purge is due, in ns since born
	born          time.Time          // creation time
	leases        leases             // homes of the shards
	Spans         spans              // chunks across megachunks; span.go
	fine          fine               // granule with small pages; fine.go
	kept          kept               // runs and spans that were freed last; kept.go
	reach         atomic.Int32       // above all granules that were requested; written while commits is held (I8)
	metadataBlock metadataBlock      // memory of the metadata above, and of the leased lines
	asked         int                // size requested; more than Size when limits forced a smaller one
	Small         bool               // request pages of 4 KiB
	Plain         bool               // its size was nobody's choice
	Refusal       func() error       // refuses requests on purpose; nil: none
	Extents       atomic.Int64       // bytes that extents have committed outside the chunks
	closed        bool               // under mu

	commits sync.Mutex // held over one commit and its charge to the budget; taken before mu

	mu     sync.Mutex    // held over commits, trims and Close, never on the fast path
	pages  Pages         // under mu, except Base and Size
	nReady int           // number of ready granules (I3); under mu
	retain int           // empty granules that a purge leaves committed
	delay  time.Duration // how long an empty granule stays committed
	idle   []uint64      // per megachunk: chunks that were free at Maintain's last look; nil: none yet
	looked time.Time     // when that was
	whole  bool          // the system cannot give back less than a granule
	filed  []bool        // per granule: it shows a file (granules.go); nil: none ever did
	keeper keeper        // goroutine that calls Maintain, if any
}

// universes are all universes of the process that are open.
var universes registry.Registry[Universe]

// metadata has the metadata blocks of all universes.
var metadata metadataBlocks

func init() {
	ledger.Process.Empty = func(yield func(func() int) bool) {
		for _, u := range universes.All() {
			if !yield(u.giveBack) {
				return
			}
		}
	}
}

// Option is Option of package alloc.
type Option func(*Config)

// Config is what options set.
type Config struct {
	Retain  int          // granules that stay committed when empty
	Small   bool         // pages of 4 KiB
	Refusal func() error // refuses requests on purpose; nil: none

	size  int           // bytes
	sized bool          // size is the caller's choice
	delay time.Duration // how long an empty granule stays committed
	pages Pages         // nil: address space is reserved
	plain bool          // nobody chose size or pages
}

// Size is Size of package alloc.
func Size(bytes int) Option { return func(c *Config) { c.size, c.sized = bytes, true } }

// Retain is Retain of package alloc.
func Retain(bytes int) Option { return func(c *Config) { c.Retain = bytes / mmap.Granule } }

// PurgeAfter is PurgeAfter of package alloc.
func PurgeAfter(d time.Duration) Option { return func(c *Config) { c.delay = max(0, d) } }

// SmallPages is SmallPages of package alloc.
func SmallPages() Option { return func(c *Config) { c.Small = true } }

// New returns a universe, as NewUniverse of package alloc does.
func New(options ...Option) (*Universe, error) {
	u := &Universe{}
	if err := u.Open(options...); err != nil {
		return nil, err
	}
	return u, nil
}

// Open makes the zero value a universe, as NewUniverse of package alloc does.
func (u *Universe) Open(options ...Option) error {
	c := Config{size: DefaultSize(), Retain: 8, delay: time.Second}
	for _, o := range options {
		if o == nil {
			panic("alloc: NewUniverse: an option is nil")
		}
		o(&c)
	}
	if c.size < 1 || c.size > MaxSize {
		return fmt.Errorf("alloc: NewUniverse: %d bytes is not in 1..%d (2^20 chunks of 16 KiB): %w",
			c.size, MaxSize, sentinel.ErrTooBig)
	}
	asked := c.size
	c.plain = c.pages == nil && !c.sized
	if c.pages == nil {
		least := c.size
		if !c.sized {
			least = min(least, minFallbackSize)
		}
		region, err := mmap.ReserveUpTo(c.size, least)
		if err != nil {
			or := ""
			if !c.sized {
				or = fmt.Sprintf(", or %d at least", least)
			}
			return fmt.Errorf("alloc: NewUniverse: %d bytes of address space%s (ask for less with alloc.Size, close universes, or raise the limit that ulimit -v shows): %w: %w",
				asked, or, sentinel.ErrReserve, err)
		}
		if c.Small {
			// A system without this setting keeps its own page size.
			_ = region.Hint(mmap.SmallPages, true)
		}
		c.pages = region
	}
	u.open(c, asked)
	return nil
}

// DefaultSize is the size of a universe for which no size was requested.
func DefaultSize() int {
	if mmap.Real {
		return MaxSize
	}
	return heapSize
}

// open begins the universe on the pages of c.
func (u *Universe) open(c Config, asked int) {
	u.base, u.pages, u.asked = c.pages.Base(), c.pages, asked
	u.Small, u.Plain, u.Refusal = c.Small, c.plain, c.Refusal
	u.retain, u.delay, u.born = max(0, c.Retain), c.delay, time.Now()
	u.makeMetadata(c.pages.Size() / mmap.Granule)
	u.Spans.Most = mostOf(u.Index.Len())
	u.due.Store(int64(u.delay / 2))
	universes.Add(u)
}

// makeMetadata makes the metadata of so many granules.
func (u *Universe) makeMetadata(granules int) {
	megachunks := 2 * granules
	masks := bitmask.HierarchyWords(megachunks * ChunksPerMegachunk)
	notes, lines := (granules+63)/64, linesOf(megachunks)
	u.metadataBlock = metadata.take(carved(masks, 8) + 2*carved(megachunks, 8) + carved(granules, 8) + carved(notes,
		8) +
		carved(granules, 4) + carved(lines, 4))
	s := &u.metadataBlock
	u.Index = bitmask.NewHierarchyIn(megachunks*ChunksPerMegachunk, carve[bitmask.Word](s, masks))
	u.dirty = carve[atomic.Uint64](s, megachunks)
	u.gone = carve[atomic.Uint64](s, megachunks)
	u.since = carve[atomic.Int64](s, granules)
	u.emptied = carve[bitmask.Word](s, notes)
	u.ready = carve[atomic.Uint32](s, granules)
	u.leases.reset(carve[atomic.Uint32](s, lines))
}

// noChunks returns the index of a universe that is closed. All share it, for none writes to it.
var noChunks = sync.OnceValue(func() *bitmask.Hierarchy { return bitmask.NewHierarchy(0) })

// shut clears the metadata and gives their block back.
func (u *Universe) shut() {
	g := int(u.reach.Load())
	u.Index.Erase(2 * g)
	clear(u.dirty[:2*g])
	clear(u.gone[:2*g])
	clear(u.since[:g])
	clear(u.emptied[:(g+63)/64])
	clear(u.ready[:g])
	clear(u.leases.lines[:linesOf(2*g)])
	metadata.give(u.metadataBlock)
	u.base, u.Index, u.dirty, u.gone, u.idle, u.ready, u.emptied, u.since = nil, noChunks(), nil, nil,
		nil, nil, nil, nil
	u.metadataBlock = metadataBlock{}
	u.leases.reset(nil)
	u.nEmpty.Store(0)
	u.reach.Store(0)
	u.fine.granule.Store(0)
	u.fine.kept.Store(false)
	u.filed = nil
}

// reached returns the number of granules that were requested: none beyond has chunks in use or
// memory.
func (u *Universe) reached() int { return int(u.reach.Load()) }

// used returns the number of chunks in use.
func (u *Universe) used() (n int) {
	for m := range 2 * u.reached() {
		n += bits.OnesCount64(u.Index.Word(m).Load())
	}
	return n
}

// Alloc is Universe.Alloc of package alloc.
func (u *Universe) Alloc(n int) (first ChunkIndex, got int, err error) {
	if n == 1 {
		c, shard, ok := u.takeAtHome()
		if !ok {
			c, err = u.findOne(shard, "Alloc")
		}
		return c, 1, err
	}
	return u.alloc(n, AnyRun, "Alloc")
}

// AllocZeroed is Universe.AllocZeroed of package alloc.
func (u *Universe) AllocZeroed(n int) (first ChunkIndex, got int, err error) {
	return u.alloc(n, ZeroedRun, "AllocZeroed")
}

func (u *Universe) alloc(n int, c Flags, name string) (first ChunkIndex, got int, err error) {
	checkCount(name, n)
	for got = n; got > 0; got /= 2 {
		if first, err = u.tryAlloc(got, c, name); err != sentinel.ErrFull {
			return first, got, err
		}
	}
	return 0, 0, u.errFull(name, n)
}

// AllocExact is Universe.AllocExact of package alloc.
func (u *Universe) AllocExact(n int) (ChunkIndex, error) {
	if n == 1 { // as in Exact, without the way there
		c, shard, ok := u.takeAtHome()
		if !ok {
			return u.findOne(shard, "AllocExact")
		}
		return c, nil
	}
	return u.Exact(n, AnyRun, "AllocExact")
}

// AllocAligned is Universe.AllocAligned of package alloc.
func (u *Universe) AllocAligned(n int) (ChunkIndex, error) {
	if uint(n-1) >= ChunksPerMegachunk || n&(n-1) != 0 {
		panic(fmt.Sprintf("alloc: Universe.AllocAligned: n=%d is not a power of two in 1..%d", n, ChunksPerMegachunk))
	}
	return u.Exact(n, AlignedRun, "AllocAligned")
}

// Exact is AllocExact with further requirements c.
func (u *Universe) Exact(n int, c Flags, name string) (ChunkIndex, error) {
	if n == 1 && c&ZeroedRun == 0 {
		c, shard, ok := u.takeAtHome()
		if !ok {
			return u.findOne(shard, name)
		}
		return c, nil
	}
	checkCount(name, n)
	first, err := u.tryAlloc(n, c, name)
	if err == sentinel.ErrFull {
		err = u.errFull(name, n)
	}
	return first, err
}

func checkCount(name string, n int) {
	if uint(n-1) >= ChunksPerMegachunk {
		panic(fmt.Sprintf("alloc: Universe.%s: n=%d is not in 1..%d", name, n, ChunksPerMegachunk))
	}
}

// Extend is Universe.Extend of package alloc.
func (u *Universe) Extend(first ChunkIndex, n, more int) bool {
	m, at := int(first)/ChunksPerMegachunk, int(first)%ChunksPerMegachunk
	if !u.IsRun(m, at, n) || uint(more-1) >= ChunksPerMegachunk ||
		u.Index.Word(m).Load()&bitmask.Mask(at, n) != bitmask.Mask(at, n) {
		panic(fmt.Sprintf(
			"alloc: Universe.Extend: [%d, %d+%d) is not a run in use of one megachunk, or more=%d is not in 1..%d",
			first, first, n, more, ChunksPerMegachunk))
	}
	at += n
	if at+more > ChunksPerMegachunk || u.Refuse("Extend") != nil {
		return false
	}
	before, now, ok := u.Index.Word(m).TryAllocAt(at, more)
	if !ok {
		return false
	}
	u.Index.Note(m, before, now)
	// The caller's run lies in the granule, so only a trimmer can have made it not ready, for a
	// moment.
	if u.ready[m/2].Load() == 0 && u.commit(m/2) != nil || !u.refill(m, before^now) {
		u.rollBack(m, at, more)
		return false
	}
	u.handOut(m, before^now, AnyRun)
	return true
}

func (u *Universe) errFull(name string, n int) error {
	if u.Index.Words() == 0 {
		panic(fmt.Sprintf("alloc: Universe.%s: the universe is closed", name))
	}
	return fmt.Errorf(
		"alloc: Universe.%s: no room for %d chunks, %d of %d bytes are in use (a larger universe: alloc.Size): %w",
		name, n, u.used()*ChunkSize, u.Size(), sentinel.ErrFull)
}

// Size is Universe.Size of package alloc.
func (u *Universe) Size() int { return u.Index.Words() * MegachunkSize }

// Shrunk is Universe.Shrunk of package alloc.
func (u *Universe) Shrunk() int {
	if u.asked > u.Size() {
		return u.asked
	}
	return 0
}

// Close is Universe.Close of package alloc.
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
		if !u.Index.InUse(i) {
			continue
		}
		if len(runs) == most {
			runs = append(runs, "others")
			break
		}
		first := i
		for i+1 < units && u.Index.InUse(i+1) {
			i++
		}
		if runs = append(runs, strconv.Itoa(first)); i > first {
			runs[len(runs)-1] += "-" + strconv.Itoa(i)
		}
	}
	return strings.Join(runs, ", ")
}

func (u *Universe) close() error {
	u.releaseKept()
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return nil
	}
	if live := u.used(); live > 0 {
		return fmt.Errorf("alloc: Universe.Close: %d chunks are in use, at %s; first close the heaps, tables and worlds on it and free the rest: %w",
			live, u.usedRuns(), sentinel.ErrInUse)
	}
	if bytes := u.Extents.Load(); bytes > 0 {
		return fmt.Errorf("alloc: Universe.Close: extents have %d bytes beside the chunks; first close the worlds on it and release the rest: %w",
			bytes, sentinel.ErrInUse)
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
	universes.Remove(u)
	u.shut()
	return nil
}

// Likeness returns the options for a universe of other size and otherwise like u.
func (u *Universe) Likeness(size int) []Option {
	o := []Option{Size(size), Retain(u.retain * mmap.Granule), PurgeAfter(u.delay)}
	if u.Small {
		o = append(o, SmallPages())
	}
	if u.Refusal != nil {
		o = append(o, func(c *Config) { c.Refusal = u.Refusal })
	}
	return o
}

// Refuse reports whether to refuse a request on purpose. Without a hook it builds no string.
func (u *Universe) Refuse(name string) error {
	if u.Refusal == nil {
		return nil
	}
	return memory.Refuse(u.Refusal, "Universe."+name)
}
