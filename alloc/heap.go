package alloc

import (
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	"quarry/internal/debug"
)

// The heap.
//
// Where a block lives follows from its size and alignment alone:
//
//	size, bytes            place
//	0 .. 8,192             a slot of a slab: one chunk cut into slots of a class
//	8,193 .. 1,048,576     a run of 1 to 64 chunks, or a slot of a wide slab
//	above                  a mapping of its own
//
// An alignment above 16 B picks a class whose size is a multiple of it; above 8 KiB a run (16 KiB)
// or a mapping.
//
// All books are in Go memory. From an address the heap finds the chunk by arithmetic, the slab by
// one table look-up and the slot by one multiplication; blocks have no header.
//
// A slab of slots is shared or owned by a Local. In both, live is what a free from anywhere but the
// owner works on: it clears its bit by one atomic operation, and a bit that is clear already is a
// double free.
//
//	shared   live = slots in use. Alloc sets a clear bit by compare-and-swap.
//	owned    own = slots that the owner counts as in use, in plain words.
//	         live = all ones, but for bits that frees of others have cleared
//	         since the owner last looked; folding moves them over to own.
//
// Alloc on a shared slab reads the head, claims a bit and reads the head again. When both are alike
// the slab was of the wanted class and shared while the bit was claimed, and from then on the bit
// pins it: a slab goes only when all its bits can be claimed at once. When they differ the bit goes
// back like a freed block. That the slab was dropped and made anew in between does no harm, since a
// slab that is dropped keeps all bits set: nobody can hold a claim on it.
//
// A slab that runs full is left alone (stateFull); the first free finds that and lists it under the
// lock. The goroutine that calls a slab full stores that first and then looks for a clear bit
// again; the one that frees clears a bit and then reads the state: one of the two sees the other.
// The same holds between a free and an owner that folds: it stores stateOwned first. A freer that
// was held up may thus list a slab that is full, or mail one that has nothing to fold; neither does
// harm.
//
// When a Local closes, live.And(own) turns its slabs into shared ones; frees that race with it
// clear bits, which commutes. A Local adopts a listed slab the other way round: own becomes what
// live was before it was set to all ones.
//
// Invariants, checked by Verify when no call is under way:
//
//	H1 Every chunk with a head is in use in the universe; so are the others of a
//	   run, and those taken ahead, which have none. The chunks of a wide slab lead
//	   to its first one.
//	H2 Bits that stand for no slot are set: in live, and in own of an owned slab.
//	H3 A shared slab is held by the shard that allocates from it, or listed, or
//	   full, and full means no clear bit.
//	H4 A slab is owned by an open Local, which has it in the place that it says;
//	   one in the place for full ones has no clear bit in own.
//	H5 A bit that is clear in live of an owned slab is set in own, and the slab is
//	   in its owner's inbox.
//	H6 A mapping's block lies in its region, whose granules are all committed; kept
//	   mappings are no more than the limit.
//	H7 The count of slabs of slots is right.
//	H8 A wide slab is listed exactly when it has a free slot, and the bits that
//	   stand for no slot are set.

// ErrLeak is wrapped by Close when blocks were still live.
var ErrLeak = errors.New("blocks were never freed")

// Heap allocates blocks of any size on a universe. Every method but Close and Verify may be called
// from any goroutine. Blocks are not cleared, unless AllocZeroed says so. Close the heap before its
// universe.
//
// Blocks above 1 MiB, or aligned to more than 16 KiB, have a mapping of their own, in address space
// that is neither the universe's nor bounded by its Size. There can be about a quarter of
// vm.max_map_count of them at once on Linux (16,382 by default); more is an error that wraps
// ErrCommit. The addresses of a freed one are never given back to the system: they serve later
// blocks of about the same size, four sizes a doubling. An alignment above 2 MiB takes as many
// bytes more, which Usable and Stats count.
//
// Cost on an AMD Zen 5, Go 1.26, quiet: Alloc and Free of 64 B 14 ns for both, the same with two
// goroutines at once, which is one compare-and-swap each; 9,000 B 32 ns; 45,000 B 53 ns; 1.5 MB 175
// ns when a freed mapping is kept; five recorded programs 10.8 ns a call.
type Heap struct {
	u      *Universe
	base   uintptr   // of the universe
	table  slabTable // chunk -> slab; nil after Close
	shards shards
	shard  [maxShards]shard
	supply supply

	mu       sync.Mutex
	lists    [classLimit]slabList       // shared slabs that have, or may have, a free slot; under mu
	wide     [len(wideClasses)]slabList // wide slabs that have a free slot; under mu
	listed   [classLimit]atomic.Int32
	locals   []*Local // by id - 1; nil where closed; under mu
	mappings mappings // with a lock of its own
	closed   atomic.Bool
}

// shard is what the goroutines of one shard allocate from, on lines of its own.
type shard struct {
	current [classLimit]atomic.Pointer[slab] // shared slabs in stateHeld; written under mu
}

// HeapOption changes how NewHeap works.
type HeapOption func(*Heap)

// SlabGrowth sets how many chunks the heap and its Locals take from the universe when they need one
// for small blocks: Next of the number they have. The default is one at a time: on recordings of
// five programs no policy was faster by more than noise, and doubling held 6 % more memory. Chunks
// taken ahead lie side by side; they count in Stats, go back when the last slab goes, in Trim and
// in Close, and are given up before a block is refused.
func SlabGrowth(g Growth) HeapOption { return func(h *Heap) { h.supply.growth = g } }

// NewHeap makes an empty heap on u. It takes chunks as it needs them. It panics when the universe
// is closed; it returns no error today.
func NewHeap(u *Universe, options ...HeapOption) (*Heap, error) {
	checkUniverse("NewHeap", u)
	if u.index.Words() == 0 {
		panic("alloc: NewHeap: the universe is closed")
	}
	h := &Heap{
		u:      u,
		base:   uintptr(u.Base()),
		table:  make(slabTable, u.Size()/MegachunkSize),
		supply: supply{u: u},
	}
	for _, o := range options {
		if o == nil {
			panic("alloc: NewHeap: an option is nil")
		}
		o(h)
	}
	h.mappings.init("this heap", keptBytes, u.small, u.failures)
	return h, nil
}

// Alloc returns a block of at least size bytes, aligned to align: a power of two up to 1 GiB, or 0
// for 16. Size 0 gives a block of its own. The contents are not cleared. Errors wrap ErrFull,
// ErrCommit, ErrReserve or ErrTooBig; nothing has changed then. It panics for a negative size or an
// alignment that is not a power of two.
func (h *Heap) Alloc(size, align int) (unsafe.Pointer, error) {
	if uint(size) <= maxSlot && uint(align) <= quantum && align&(align-1) == 0 {
		number := int(classOf[(uint(size)+quantum-1)/quantum]) % classLimit
		at := h.shards.index()
		if s := h.shard[at].current[number].Load(); s != nil {
			head, k := s.head.Load(), &classes[number]
			pause()
			i := s.low.Load() % slotWords
			w := s.words[i].live.Load()
			bit := uint64(bits.TrailingZeros64(^w))
			if head&sharedMask != kindSlots|uint64(number)<<headClass || w == ^uint64(0) ||
				!s.words[i].live.CompareAndSwap(w, w|1<<(bit&63)) {
				return h.allocSearch(s, number, at, size, w != ^uint64(0))
			}
			if s.head.Load() == head || mutant == blindClaim {
				return h.slotPointer(firstIn(head), uintptr(uint64(i)*64+bit)*uintptr(k.size), k), nil
			}
			h.release(s, int(i), 1<<(bit&63)) // the slab is another by now
		}
	}
	return h.alloc("Heap.Alloc", nil, size, align, anyRun)
}

// sharedMask selects what must be right in the head of a slab for a claim.
const sharedMask = kindMask | (classLimit-1)<<headClass | ownerMask<<headOwner

// allocSearch is Alloc when the word that the hint names has no bit for us: it looks at the others
// of the slab that shard at had. lost says that the word had one and somebody else took it.
//
//go:noinline
func (h *Heap) allocSearch(s *slab, number, at, size int, lost bool) (unsafe.Pointer, error) {
	head, k := s.head.Load(), &classes[number]
	if head&sharedMask == kindSlots|uint64(number)<<headClass {
		slot, ok, again := s.claim(int(k.words))
		if lost || again {
			h.shards.move(at)
		}
		if ok && s.head.Load() == head {
			return h.slotPointer(firstIn(head), uintptr(slot)*uintptr(k.size), k), nil
		}
		if ok {
			h.release(s, slot/64, 1<<(slot%64)) // the slab is another by now
		}
	}
	return h.alloc("Heap.Alloc", nil, size, 0, anyRun)
}

// slotPointer returns the address of a slot that was just handed out.
func (h *Heap) slotPointer(c ChunkIndex, offset uintptr, k *class) unsafe.Pointer {
	// Safe because offset is that of a slot of k, so the block lies in the slab's chunk, which the
	// heap holds.
	p := unsafe.Add(h.u.Pointer(c), offset)
	if debug.On {
		poison(p, int(k.size), debug.Fresh)
	}
	return p
}

// alloc is Alloc for a Local, or for the heap when l is nil.
func (h *Heap) alloc(name string, l *Local, size, align int, want wish) (p unsafe.Pointer, err error) {
	h.checkRequest(name, l, size, align)
	if size <= maxSlot {
		if number, ok := classFor(size, align); ok {
			if p, err = h.allocSlot(l, number); err != nil {
				return nil, fmt.Errorf("alloc: %s: block of %d bytes: %w", name, classSizes[number], err)
			}
		}
	} else if number, ok := wideFor(size, align); ok {
		p = h.allocWide(number)
	}
	zeroed := p == nil // as a run is when that is wanted
	switch {
	case p != nil:
	case size <= maxRunBytes && align <= ChunkSize:
		p, err = h.allocRun(name, l, size, want)
	default:
		p, zeroed, err = h.mappings.alloc(name, size, align)
	}
	if err == nil && want == zeroedRun && !zeroed {
		zero(p, size)
	}
	return p, err
}

// allocSlot hands out a slot, and reclaims what is empty before it gives up.
func (h *Heap) allocSlot(l *Local, number int) (p unsafe.Pointer, err error) {
	for try := range 2 {
		if l != nil {
			p, err = l.allocSlot(number)
		} else {
			p, err = h.allocShared(number)
		}
		if err == nil || try > 0 || !h.reclaim(l) {
			break
		}
	}
	if err != nil && l != nil {
		// Others may have left room in slabs that are shared.
		if q, refused := h.allocShared(number); refused == nil {
			return q, nil
		}
	}
	return p, err
}

// AllocZeroed is Alloc of a block whose first size bytes are zero. Blocks above 40 KiB, runs of
// chunks and mappings, are cleared only where their memory was in use before.
func (h *Heap) AllocZeroed(size, align int) (unsafe.Pointer, error) {
	return h.alloc("Heap.AllocZeroed", nil, size, align, zeroedRun)
}

// clearStep bounds one clear or copy, which cannot be preempted.
const clearStep = 256 << 10

// zero clears the first n bytes of a block.
func zero(p unsafe.Pointer, n int) {
	// Safe because the block is live and has at least n bytes.
	for b := unsafe.Slice((*byte)(p), n); len(b) > 0; {
		step := min(len(b), clearStep)
		clear(b[:step])
		b = b[step:]
	}
}

// poison marks the first n bytes of a block.
func poison(p unsafe.Pointer, n int, pattern byte) {
	// Safe because the block has n bytes and nobody else uses it: it is about to be handed out or
	// was just given back.
	debug.Poison(unsafe.Slice((*byte)(p), n), pattern)
}

func (h *Heap) checkRequest(name string, l *Local, size, align int) {
	if h.closed.Load() || l != nil && l.closed {
		panicClosed(name, h.closed.Load())
	}
	checkBlock(name, size, align)
}

//go:noinline
func panicClosed(name string, heap bool) {
	if heap {
		panic("alloc: " + name + ": the heap is closed")
	}
	panic("alloc: " + name + ": the Local is closed")
}

// Trim gives back what is empty and was kept for reuse: a slab per class and shard, chunks taken
// ahead, freed mappings. What Locals keep stays. An error wraps the system's, which would not take
// a mapping; it is tried again next time.
func (h *Heap) Trim() error {
	if h.closed.Load() {
		panicClosed("Heap.Trim", true)
	}
	h.reclaim(nil)
	if err := h.mappings.trim(); err != nil {
		return fmt.Errorf("alloc: Heap.Trim: %w", err)
	}
	return nil
}

// Close returns all memory, live blocks too, and closes the heap's Locals. When blocks were live
// the error wraps ErrLeak and counts them. After an error of the system, which would not take a
// mapping back, Close may be called again; else a second call does nothing. No other call may be
// under way.
func (h *Heap) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var leak error
	if !h.closed.Load() {
		if left := h.stats(); left.LiveBlocks > 0 {
			leak = fmt.Errorf("alloc: Heap.Close: %d blocks of %d bytes: %w", left.LiveBlocks, left.LiveBytes, ErrLeak)
		}
		for _, l := range h.locals {
			if l != nil {
				l.disable()
			}
		}
		h.eachHead(func(c ChunkIndex, s *slab, head uint64) {
			if kind := head & kindMask; kind == kindSlots || kind == kindRun || kind == kindWide {
				h.u.Free(c, chunksIn(head))
			}
		})
		h.supply.release()
		for i := range h.shard {
			h.shard[i] = shard{}
		}
		h.table, h.locals = nil, nil
		h.closed.Store(true)
	}
	err := h.mappings.close()
	if err != nil {
		err = fmt.Errorf("alloc: Heap.Close: %w", err)
	}
	return errors.Join(leak, err)
}

// eachHead calls f with every chunk of every page and its head.
func (h *Heap) eachHead(f func(c ChunkIndex, s *slab, head uint64)) {
	for m := range h.table {
		page := h.table[m].Load()
		if page == nil {
			continue
		}
		for i := range page.slabs {
			if head := page.slabs[i].head.Load(); head != 0 {
				f(ChunkIndex(m*ChunksPerMegachunk+i), &page.slabs[i], head)
			}
		}
	}
}

// Universe returns the universe that the heap takes its chunks from.
func (h *Heap) Universe() *Universe { return h.u }
