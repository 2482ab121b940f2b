package heap

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"quarry/internal/debug"
	"quarry/internal/universe"
	"quarry/internal/universe/mapping"
	"quarry/internal/universe/memory"
	"quarry/internal/universe/mutant"
	"quarry/internal/universe/sentinel"
	"quarry/mmap"
)

// The heap.
//
// Where a block lies follows from its size and alignment alone:
//
//	size, bytes            lies in
//	0 .. 8,192             a slot of a slab: one chunk cut into slots of a class
//	8,193 .. 1,048,576     a run of 1 to 64 chunks, or a slot of a wide slab
//	above                  a span of 65 chunks or more, across megachunks; or a mapping of its own
//
// An alignment above 16 B selects a class, of slots or of wide slots, whose size is a multiple of
// it; where there is none, a run or a span. What the universe has no room for goes to an overflow
// heap (overflow.go). What has none there either gets a mapping if it is larger than 1 MiB or
// aligned to more than 16 KiB, and ErrFull otherwise. A confined heap has no overflow heaps and no
// mappings.
//
// All metadata is in Go memory. From an address the heap computes the chunk, finds the slab by one
// table lookup and the slot by one multiplication. Blocks have no header.
//
// A slab of slots is shared, or owned by a Local. In both, any goroutine other than the owner frees
// a slot by clearing its bit in live with one atomic operation; a bit that is already clear is a
// double free.
//
//	shared   live = slots in use. Alloc sets a clear bit by compare-and-swap.
//	owned    own = slots that the owner counts as in use, in plain words, by 16 B.
//	         live = all ones, except bits cleared by other goroutines' frees
//	         since the owner last looked. Such a free mails the slab: it puts
//	         it in the owner's inbox. Before the owner takes another slab it
//	         folds those in its inbox, which moves these bits to own.
//
// Alloc on a shared slab reads the head, claims a bit and reads the head again. When both reads
// agree, the slab was shared and of the wanted class while the bit was claimed. From then on the
// bit pins the slab, since a slab is dropped only when all its bits can be claimed at once. When
// the reads differ, the bit is released as a freed block is. A slab dropped and made anew between
// the two reads does no harm: a dropped slab keeps all bits set, so nobody can hold a claim on it.
//
// A full slab is in no list (stateFull). The free that makes a quarter of its slots free (a batch)
// lists it under the lock; before memory is refused, all that have a free slot are listed. Each
// shard has lists of its own, for the slabs that it held last; it takes those of other shards when
// it has none. The slab listed last is used first, so that nearly empty ones can drain. The
// goroutine that declares a slab full stores the state first and then looks again for a clear bit;
// the goroutine that frees clears a bit first and then reads the state; so one of them sees the
// other. The same holds between a free and an owner that folds, which stores stateOwned first. A
// delayed free may therefore list a slab that is full, or mail a slab that has nothing to fold;
// neither does harm.
//
// When a Local closes, live.And(own) turns its slabs into shared ones; a racing free clears bits,
// which commutes. A Local adopts a listed slab by the reverse step: own becomes the value that live
// had before it was set to all ones.
//
// Invariants, checked by Verify when no call is under way:
//
//	H1 Every chunk with a head is in use in the universe. So are the other chunks of a run, and
//	   the chunks taken ahead of need (supply.go); these have no head. The other chunks of a wide
//	   slab lead to its first chunk.
//	H2 Bits that stand for no slot are set in live, and in an owned slab clear in own.
//	H3 A shared slab is held by the shard that allocates from it, or in the list of the shard
//	   that held it last (home), or full, and full means fewer clear bits than a batch.
//	H4 An owned slab belongs to an open Local, which has it in the list that place names; a
//	   slab in the list of full ones counts its free slots that are not recent ones of its Local,
//	   fewer than 1/32 of its slots (batchPart). Its key names owner, class and place, or is 0.
//	H5 A bit that is clear in live of an owned slab is set in own, and the slab is in its
//	   owner's inbox.
//	H6 A mapping's block lies in its region, whose granules are all committed; kept mappings are
//	   within the limit.
//	H7 The count of slabs of slots is right.
//	H8 A wide slab is listed exactly when it has a free slot, and the bits that stand for no
//	   slot are set. The word of a slot says free exactly when its bit is clear, and kept when a
//	   Local keeps it.
//	H9 A free run that a Local keeps is in the list of its length of that Local, which counts the
//	   chunks of these and of the wide slots that it keeps, at most keptChunks.
//	H10 The chunks of a span are in use in the universe and have no heads; spans do not overlap,
//	   and each has its head at the megachunk in which it begins.
//	H11 A recent slot of a Local is one of its class in a slab of that Local, is free, and is
//	   there once.

// Heap is Heap of package alloc.
type Heap struct {
	u         *universe.Universe
	base      uintptr   // of the universe
	table     slabTable // chunk -> slab; nil after Close
	spans     atomic.Pointer[spanHeads]
	overflows overflows
	shards    universe.Shards
	shard     [universe.MaxShards]shard
	supply    supply

	mu       sync.Mutex
	wide     [len(wideClasses)]slabList // wide slabs that have a free slot; under mu
	listed   [classLimit]atomic.Int32   // slabs in the lists of all shards
	locals   []*Local                   // by id - 1; nil: closed; under mu
	mappings mapping.Set                // has a lock of its own
	confined bool                       // all blocks lie in u
	Closed   atomic.Bool
}

// shard holds what the goroutines of one shard allocate from.
type shard struct {
	current [classLimit]atomic.Pointer[slab] // shared slabs in stateHeld; written under mu
	lists   [classLimit]slabList             // its slabs that have, or may have, a free slot; under mu
}

// Option is HeapOption of package alloc.
type Option func(*Heap)

// SlabGrowth is SlabGrowth of package alloc, whose policy is next; nil: one chunk at a time.
func SlabGrowth(next func(have, need int) int) Option {
	return func(h *Heap) { h.supply.next = next }
}

// Open makes the zero value a heap on u, as NewHeap of package alloc does.
func (h *Heap) Open(u *universe.Universe, options ...Option) {
	if u.Index.Words() == 0 {
		panic("alloc: NewHeap: the universe is closed")
	}
	h.u, h.base = u, uintptr(u.Base())
	h.table, h.supply.u = make(slabTable, u.Size()/universe.MegachunkSize), u
	if u.Plain && mmap.Real {
		h.overflows.size = universe.DefaultSize()
	}
	for _, o := range options {
		if o == nil {
			panic("alloc: NewHeap: an option is nil")
		}
		o(h)
	}
	h.mappings.Init("this heap", mapping.KeptBytes, u.Small, u.Refusal)
}

// Alloc is Heap.Alloc of package alloc.
func (h *Heap) Alloc(size, align int) (unsafe.Pointer, error) {
	if uint(size) <= maxSlot && uint(align) <= memory.Quantum && align&(align-1) == 0 {
		number := int(classOf[(uint(size)+memory.Quantum-1)/memory.Quantum]) % classLimit
		at := h.shards.Index()
		if s := h.shard[at].current[number].Load(); s != nil {
			head, k := s.head.Load(), &classes[number]
			mutant.Pause()
			i := s.low.Load() % slotWords
			w := s.live[i].Load()
			bit := uint64(bits.TrailingZeros64(^w))
			if head&sharedMask != kindSlots|uint64(number)<<headClass || w == ^uint64(0) ||
				!s.live[i].CompareAndSwap(w, w|1<<(bit&63)) {
				return h.allocSearch(s, number, at, size, w != ^uint64(0))
			}
			if s.head.Load() == head || mutant.Planted == mutant.BlindClaim {
				return h.slotPointer(firstIn(head), uintptr(uint64(i)*64+bit)*uintptr(k.size), k), nil
			}
			h.release(s, int(i), 1<<(bit&63)) // the slab was dropped or reused
		}
	} else if p := h.takeRun(size, align); p != nil {
		return p, nil
	}
	return h.alloc("Heap.Alloc", nil, size, align, universe.AnyRun)
}

// sharedMask selects the fields of a slab's head that a claim depends on.
const sharedMask = kindMask | (classLimit-1)<<headClass | ownerMask<<headOwner

// allocSearch is Alloc when the word that the hint names gave no bit: it searches the other words
// of s, the current slab of shard at. lost reports that the word had a clear bit and another
// goroutine took it.
//
//go:noinline
func (h *Heap) allocSearch(s *slab, number, at, size int, lost bool) (unsafe.Pointer, error) {
	head, k := s.head.Load(), &classes[number]
	if head&sharedMask == kindSlots|uint64(number)<<headClass {
		slot, ok, again := s.claim(int(k.words))
		if lost || again {
			h.shards.Move(at)
		}
		if ok && s.head.Load() == head {
			return h.slotPointer(firstIn(head), uintptr(slot)*uintptr(k.size), k), nil
		}
		if ok {
			h.release(s, slot/64, 1<<(slot%64)) // the slab was dropped or reused
		}
	}
	return h.alloc("Heap.Alloc", nil, size, 0, universe.AnyRun)
}

// slotPointer returns the address of a newly allocated slot.
func (h *Heap) slotPointer(c universe.ChunkIndex, offset uintptr, k *class) unsafe.Pointer {
	// Safe because offset is the offset of a slot of k, so the block lies in the slab's chunk,
	// which the heap holds.
	p := unsafe.Add(h.u.Pointer(c), offset)
	if debug.On {
		memory.Poison(p, int(k.size), debug.Fresh)
	}
	return p
}

// alloc is Alloc for a Local, or for the heap when l is nil.
func (h *Heap) alloc(name string, l *Local, size, align int, want universe.Flags) (unsafe.Pointer, error) {
	p, zeroed, err := h.allocTold(name, l, size, align, want)
	if err == nil && want == universe.ZeroedRun && !zeroed {
		memory.Zero(p, size)
	}
	return p, err
}

// allocTold is alloc without the clear; zeroed reports that the block reads as zero.
func (h *Heap) allocTold(name string, l *Local, size, align int,
	want universe.Flags) (p unsafe.Pointer, zeroed bool, err error) {
	h.checkRequest(name, l, size, align)
	zeroed = want == universe.ZeroedRun
	if h.supply.resting() {
		if p, err = h.allocOverflow(name, size, align, want, sentinel.ErrFull); err == nil {
			return p, zeroed, nil
		}
	}
	p, err = h.allocHere(name, l, size, align, want)
	if err == nil || !errors.Is(err, sentinel.ErrFull) {
		return p, zeroed, err
	}
	if p, err = h.allocOverflow(name, size, align, want, err); err == nil {
		h.supply.rest.Store(restFor)
		return p, zeroed, nil
	}
	if size <= MaxRunBytes && align <= universe.ChunkSize || !errors.Is(err, sentinel.ErrFull) {
		return nil, false, err
	}
	if h.confined {
		return nil, false,
			fmt.Errorf("alloc: %s: block of %d bytes: no free chunks in a row for it in the universe: %w",
				name, size, sentinel.ErrFull)
	}
	return h.mappings.Alloc(name, size, align)
}

// allocHere is alloc in the heap's own universe. An error wraps ErrFull when there is no room.
func (h *Heap) allocHere(name string, l *Local, size, align int, want universe.Flags) (p unsafe.Pointer, err error) {
	if size <= maxSlot {
		if number, ok := classFor(size, align); ok {
			if p, err = h.allocSlot(l, number); err != nil {
				return nil, fmt.Errorf("alloc: %s: block of %d bytes: %w", name, classSizes[number], err)
			}
		}
	} else if number, ok := wideIn(size, align); ok {
		if l != nil {
			p = l.takeWide(number)
		}
		if p == nil {
			p = h.allocWide(number)
		}
	}
	switch {
	case p != nil:
		if want == universe.ZeroedRun {
			memory.Zero(p, size)
		}
		return p, nil
	case size <= MaxRunBytes && align <= universe.ChunkSize:
		return h.allocRun(name, l, size, want)
	case size <= MaxRunBytes:
		return h.allocAlignedRun(size, align, want)
	}
	return h.allocSpan(name, l, size, align, want)
}

// allocSlot allocates a slot, and reclaims empty slabs before it fails.
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
		// Other goroutines may have left room in shared slabs.
		if q, refused := h.allocShared(number); refused == nil {
			return q, nil
		}
	}
	return p, err
}

// AllocZeroed is Heap.AllocZeroed of package alloc.
func (h *Heap) AllocZeroed(size, align int) (unsafe.Pointer, error) {
	if uint(size) <= maxSlot && uint(align) <= memory.Quantum && align&(align-1) == 0 && h.u != nil &&
		!h.Closed.Load() {
		p, err := h.Alloc(size, align)
		if err != nil {
			return nil, renamed("Heap.AllocZeroed", size, err)
		}
		// Safe because the block has at least size bytes.
		clear(unsafe.Slice((*byte)(p), size))
		return p, nil
	}
	return h.alloc("Heap.AllocZeroed", nil, size, align, universe.ZeroedRun)
}

func (h *Heap) checkRequest(name string, l *Local, size, align int) {
	if h == nil || h.u == nil {
		panicZero(name)
	}
	if h.Closed.Load() || l != nil && l.Closed {
		panicClosed(name, h.Closed.Load())
	}
	memory.Check(name, size, align)
}

// panicZero is for the zero values of Heap and Local, and nil.
//
//go:noinline
func panicZero(name string) {
	if strings.HasPrefix(name, "Local.") {
		panic("alloc: " + name + ": the Local is nil or the zero value; Heap.NewLocal makes one")
	}
	panic("alloc: " + name + ": the heap is nil or the zero value; NewHeap makes one")
}

//go:noinline
func panicClosed(name string, heap bool) {
	if heap {
		panic("alloc: " + name + ": the heap is closed")
	}
	panic("alloc: " + name + ": the Local is closed")
}

// Trim is Heap.Trim of package alloc.
func (h *Heap) Trim() error {
	if h.Closed.Load() {
		panicClosed("Heap.Trim", true)
	}
	h.reclaim(nil)
	h.dropPages()
	if err := errors.Join(h.mappings.Trim(), h.discardPages(), h.trimOverflows()); err != nil {
		return fmt.Errorf("alloc: Heap.Trim: %w", err)
	}
	return nil
}

// Close is Heap.Close of package alloc.
func (h *Heap) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var leak error
	if !h.Closed.Load() {
		if left := h.stats(); left.LiveBlocks > 0 {
			leak = fmt.Errorf("alloc: Heap.Close: %d blocks of %d bytes: %w",
				left.LiveBlocks, left.LiveBytes, sentinel.ErrLeak)
		}
		for _, l := range h.locals {
			if l != nil {
				l.disable()
			}
		}
		h.eachHead(func(c universe.ChunkIndex, s *slab, head uint64) {
			if kind := head & kindMask; kind == kindSlots || kind == kindRun || kind == kindWide || kind == kindCached {
				h.u.FreeRun(c, chunksIn(head))
			}
		})
		h.closeSpans()
		h.supply.release()
		for i := range h.shard {
			h.shard[i] = shard{}
		}
		h.table, h.locals = nil, nil
		h.Closed.Store(true)
	}
	err := errors.Join(h.mappings.Close(), h.closeOverflows())
	if err != nil {
		err = fmt.Errorf("alloc: Heap.Close: %w", err)
	}
	return errors.Join(leak, err)
}

// eachHead calls f for every chunk that has a head, with its slab and head.
func (h *Heap) eachHead(f func(c universe.ChunkIndex, s *slab, head uint64)) {
	for m := range h.table {
		page := h.table[m].Load()
		if page == nil {
			continue
		}
		for i := range page.slabs {
			if head := page.slabs[i].head.Load(); head != 0 {
				f(universe.ChunkIndex(m*universe.ChunksPerMegachunk+i), &page.slabs[i], head)
			}
		}
	}
}
