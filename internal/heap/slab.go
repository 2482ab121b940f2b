package heap

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"quarry/internal/debug"
	"quarry/internal/universe"
)

// Every chunk that the heap holds has a slab, which describes what is in the chunk and which slots
// are in use. Slabs lie in Go memory, so a block overrun damages neighboring blocks but not the
// metadata. It holds no Go pointers, so the collector does not scan it:
//
//	page of megachunk m   +----------------------+--------+--------+-- ... --+---------+
//	                      | own 8 KiB, keys 256 B | slab 0 | slab 1 |         | slab 63 |  64 x 192 B
//	                      +----------------------+--------+--------+-- ... --+---------+
//	slab                  | head, state, links, shape  48 B | live 16 x 8 B | index, home, 14 B unused |
//
// A page is made when the heap first holds a chunk of the megachunk, and stays until Heap.Trim
// finds the megachunk free: 500 MB of small blocks have 10 MB of pages.

// slab describes a chunk.
type slab struct {
	head  atomic.Uint64 // what the chunk is; see the packing below
	state atomic.Uint32 // of a slab of slots: who allocates from it; see the states below
	low   atomic.Uint32 // hint of a shared slab: lower words were seen full

	// Links are chunk numbers plus 1; 0 ends a list. The links of a shared slab are under the
	// heap's lock; the links of an owned slab belong to its owner.
	next, prev uint32
	mail       uint32 // next in the owner's inbox; under the heap's lock
	listed     bool   // in the heap's list of its class; under the heap's lock
	queued     bool   // in its owner's inbox; under the heap's lock
	place      place  // of an owned slab: the list that holds it; the owner's

	shape atomic.Uint64 // size and reciprocal of the class; see the packing below
	freed uint32        // of an owned slab in placeFull: its free slots; the owner's
	loose atomic.Uint32 // of a shared slab in stateFull: frees since it was full, see released
	// In live, which has a bit for each slot, a bit is clear when its slot is free (shared slab),
	// or when a goroutine other than the owner freed it (owned slab).
	live  [slotWords]atomic.Uint64
	index uint8 // in its page
	home  uint8 // of a shared slab: the shard that held it last; under the heap's lock
	_     [14]byte
}

// slabPage holds the slabs of a megachunk.
type slabPage struct {
	// In own, which has a bit for each 16 B of a chunk, a bit is set when the owner of the slab
	// counts the slot that begins there as in use. Only the owner writes it, and finds it by
	// shifts.
	own [universe.ChunksPerMegachunk * slotWords]uint64
	// In keys an owned slab has owner and class for its owner's frees, and 0 while others may have
	// freed slots of it; see keyOf.
	keys  [universe.ChunksPerMegachunk]atomic.Uint32
	slabs [universe.ChunksPerMegachunk]slab
}

const (
	keyCurrent = 1 << 0 // the slab is in placeCurrent, where it may be empty
	keyPartial = 1 << 1 // in placePartial, where free slots are found by the masks
	keyFull    = 1 << 2 // in placeFull, where free slots are counted
	keyClass   = 7
	keyOwner   = 12
)

// keyOf packs the owner of a slab, its class and its place. It is never 0.
func (s *slab) keyOf(owner uint32, class int) uint32 {
	key := owner<<keyOwner | uint32(class)<<keyClass
	switch s.place {
	case placeCurrent:
		key |= keyCurrent
	case placePartial:
		key |= keyPartial
	case placeFull:
		key |= keyFull
	}
	return key
}

// page returns the page of a slab.
func (s *slab) page() *slabPage {
	// Safe because every slab lies in a page, whose slabs begin at that offset.
	return (*slabPage)(unsafe.Add(unsafe.Pointer(s),
		-int(unsafe.Offsetof(slabPage{}.slabs)+uintptr(s.index)*unsafe.Sizeof(slab{}))))
}

// key returns the key of a slab.
func (s *slab) key() *atomic.Uint32 { return &s.page().keys[s.index%universe.ChunksPerMegachunk] }

// own returns the words of own of a slab.
func (s *slab) own() *[slotWords]uint64 {
	// Safe because own has so many words for each slab.
	return (*[slotWords]uint64)(s.page().own[int(s.index)*slotWords:])
}

// ownsNothing reports whether the owner counts no slot as in use.
func (s *slab) ownsNothing() bool {
	for _, w := range s.own() {
		if w != 0 {
			return false
		}
	}
	return true
}

// These constants pin the layout above.
const (
	_ = uint(unsafe.Sizeof(slab{}) - 192)
	_ = uint(192 - unsafe.Sizeof(slab{}))
)

// A head packs, from the lowest bit: kind 3 bits, class 5, number of chunks of a run 8 (1..64),
// first chunk of the block or slab 20, owner 20 (0: shared).
const (
	kindNone     = 0 // not held, taken ahead, or a later chunk of a run
	kindSlots    = 1
	kindRun      = 2 // first chunk of a run that is one block
	kindWide     = 3 // first chunk of a wide slab
	kindInterior = 4 // a later chunk of a wide slab
	kindCached   = 5 // first chunk of a free run that a Local, the owner, keeps for reuse
	kindSpan     = 6 // a span; never in a slab: span.go
	kindMask     = 7

	headClass  = 3
	headChunks = 8
	headFirst  = 16
	headOwner  = 36
	firstMask  = 1<<20 - 1
	ownerMask  = 1<<20 - 1
)

func headOf(kind uint64, class, chunks int, first universe.ChunkIndex, owner uint32) uint64 {
	return kind | uint64(class)<<headClass | uint64(chunks)<<headChunks | uint64(first)<<headFirst |
		uint64(owner)<<headOwner
}

func classIn(head uint64) int  { return int(head>>headClass) & (classLimit - 1) }
func chunksIn(head uint64) int { return int(head>>headChunks) & 0xFF }
func firstIn(head uint64) universe.ChunkIndex {
	return universe.ChunkIndex(head >> headFirst & firstMask)
}
func ownerIn(head uint64) uint32 { return uint32(head >> headOwner & ownerMask) }

// shapeOf packs what a free needs: reciprocal 32 bits, end 32. It is stored in the slab, so that a
// free need not go from the head to the class to the slot.
func shapeOf(k *class) uint64 { return uint64(k.reciprocal) | uint64(k.end)<<32 }

// scaled converts an offset into a chunk to slots, in fixed point with 32 fraction bits. A slot
// begins at the offset exactly when the fraction is below the reciprocal. At the start of slot q
// the fraction is q*e, where e < size is the error of rounding the reciprocal up; q*e is below
// 16,384. A byte r further on adds r times the reciprocal, which never reaches the next slot.
func scaled(offset uint32, shape uint64) (slot uint32, begins bool) {
	x := uint64(offset) * uint64(uint32(shape))
	return uint32(x >> 32), uint32(x) < uint32(shape)
}

// The states of a slab of slots. All are written under the heap's lock, except full -> listing and
// owned -> mailed, which are also made without it by compare-and-swap.
const (
	stateNone    uint32 = iota // no slots
	stateHeld                  // current slab of a shard
	stateListed                // in the list of its class
	stateFull                  // in no list: the free that makes up a batch must list it
	stateListing               // a goroutine is about to list it
	stateOwned                 // owned by a Local
	stateMailed                // owned by a Local to which a free was, or is about to be, reported
)

// place is the list in which an owner keeps a slab.
type place uint8

const (
	placeCurrent place = iota // allocated from
	placePartial              // in the list of slabs with free slots
	placeFull                 // in the list of slabs with fewer free slots than 1/batchPart
)

// chunk returns the chunk of a slab of slots.
func (s *slab) chunk() universe.ChunkIndex { return firstIn(s.head.Load()) }

// store writes a word of own. Stats, Usable and frees by others read own while the owner works.
// They need one bit that does not change meanwhile, or a figure of no single instant, so a plain
// store of one word suffices; an atomic store costs as much as the rest of an allocation. Race
// builds store atomically, so that the race detector still reports every other access.
func store(word *uint64, v uint64) {
	if debug.On {
		atomic.StoreUint64(word, v)
		return
	}
	*word = v
}

// claim sets a clear bit of live by compare-and-swap, lowest first from the hint on. lost reports
// that another goroutine won a bit at least once.
func (s *slab) claim(words int) (slot int, ok, lost bool) {
	from := int(s.low.Load())
	for i := from; i < words; i++ {
		for {
			w := s.live[i].Load()
			if w == ^uint64(0) {
				break
			}
			bit := bits.TrailingZeros64(^w)
			if s.live[i].CompareAndSwap(w, w|1<<bit) {
				if i != from {
					s.low.Store(uint32(i))
				}
				return i*64 + bit, true, lost
			}
			lost = true
		}
	}
	if from == 0 {
		return 0, false, lost
	}
	s.low.Store(0)
	return s.claim(words)
}

// hasRoom reports whether live has a clear bit.
func (s *slab) hasRoom(k *class) bool {
	for i := range int(k.words) {
		if s.live[i].Load() != ^uint64(0) {
			return true
		}
	}
	return false
}

// isEmpty reports whether no slot of a shared slab is in use.
func (s *slab) isEmpty(k *class) bool {
	for i := range int(k.words) {
		if s.live[i].Load() != k.beyond(i) {
			return false
		}
	}
	return true
}

// claimAll claims every slot of an empty shared slab, or none.
func (s *slab) claimAll(k *class) bool {
	for i := range int(k.words) {
		if !s.live[i].CompareAndSwap(k.beyond(i), ^uint64(0)) {
			for j := range i {
				s.live[j].And(k.beyond(j))
			}
			return false
		}
	}
	return true
}

// ownSlots returns word i of the slots that the owner counts as in use, in the order of live.
func (s *slab) ownSlots(k *class, i int) (w uint64) {
	for slot := i * 64; slot < min(i*64+64, int(k.slots)); slot++ {
		if at, m := k.start(slot); atomic.LoadUint64(&s.own()[at])&m != 0 {
			w |= 1 << (slot % 64)
		}
	}
	return w
}

// fold takes over the frees by others: the bits that are clear in live. It returns how many they
// are, and a slot that was freed but not in use, or -1.
func (s *slab) fold(k *class) (n, bad int) {
	// Only the bits that this Or sets are ours: an allocator with a stale view of the slab may be
	// about to set a bit and clear it again.
	var freed [slotWords]uint64
	for i := range int(k.words) {
		if s.live[i].Load() != ^uint64(0) {
			freed[i] = ^s.live[i].Or(^uint64(0))
			n += bits.OnesCount64(freed[i])
		}
	}
	own := s.own()
	if n == int(k.slots) && *own == starts[classIn(s.head.Load())] {
		for i := range own {
			store(&own[i], 0)
		}
		return n, -1
	}
	n, bad = 0, -1
	for i := range int(k.words) {
		for w := freed[i]; w != 0; w &= w - 1 {
			slot := i*64 + bits.TrailingZeros64(w)
			at, m := k.start(slot)
			if own[at]&m == 0 {
				bad = slot
				continue
			}
			store(&own[at], own[at]&^m)
			n++
		}
	}
	return n, bad
}

// slabList is a list of slabs, newest first.
type slabList struct {
	head uint32 // chunk number plus 1; 0: empty
}

func (l *slabList) push(t slabTable, s *slab) {
	at := uint32(s.chunk()) + 1
	s.next, s.prev = l.head, 0
	if l.head != 0 {
		t.link(l.head).prev = at
	}
	l.head = at
}

func (l *slabList) remove(t slabTable, s *slab) {
	if s.prev != 0 {
		t.link(s.prev).next = s.next
	} else {
		l.head = s.next
	}
	if s.next != 0 {
		t.link(s.next).prev = s.prev
	}
	s.next, s.prev = 0, 0
}

// slabTable finds the slab of a chunk: a page per megachunk.
type slabTable []atomic.Pointer[slabPage]

// at returns the slab of a chunk, or nil when the heap never held a chunk of that megachunk.
func (t slabTable) at(c universe.ChunkIndex) *slab {
	if page := t[c/universe.ChunksPerMegachunk].Load(); page != nil {
		return &page.slabs[c%universe.ChunksPerMegachunk]
	}
	return nil
}

// link returns the slab of a link other than 0.
func (t slabTable) link(at uint32) *slab { return t.at(universe.ChunkIndex(at - 1)) }

// made is at, but makes the page when there is none.
func (t slabTable) made(c universe.ChunkIndex) *slab {
	if s := t.at(c); s != nil {
		return s
	}
	page := new(slabPage)
	for i := range page.slabs {
		page.slabs[i].index = uint8(i)
	}
	t[c/universe.ChunksPerMegachunk].CompareAndSwap(nil, page)
	return t.at(c)
}

// dropPages gives the pages of megachunks of which no chunk is in use to the collector. A goroutine
// that writes to a slab holds its chunk, so none is written meanwhile; one that has found a slab
// there before goes on with one that stays free.
func (h *Heap) dropPages() {
	for m := range h.table {
		if h.table[m].Load() != nil {
			h.u.WhileFree(m, func() { h.table[m].Store(nil) })
		}
	}
}
