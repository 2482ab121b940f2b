package alloc

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"quarry/internal/debug"
)

// A chunk that the heap holds has a slab: what is in it, and for slots which are
// in use. Slabs lie in Go memory, so a block that is overrun damages its
// neighbours but not the books, and hold no Go pointers, so that the collector
// does not look at them:
//
//	page of megachunk m   +--------+--------+-- ... --+---------+
//	                      | slab 0 | slab 1 |         | slab 63 |  64 x 320 B
//	                      +--------+--------+-- ... --+---------+
//	slab   | head, state, links, shape  48 B | 16 x (live 8 B, own 8 B) | 16 B unused |
//
// A page is made when a chunk of the megachunk is first held, and stays.

// slab describes a chunk.
type slab struct {
	head  atomic.Uint64 // what the chunk is; see the packing below
	state atomic.Uint32 // of a slab of slots: which goroutine looks at it; see the states below
	low   atomic.Uint32 // hint of a shared slab: words below this one have been seen full

	// Links are chunk numbers plus 1; 0 ends a list. A shared slab's links are
	// under the heap's lock, an owned one's are its owner's.
	next, prev uint32
	mail       uint32 // next in the owner's inbox; under the heap's lock
	listed     bool   // is in the heap's list of its class; under the heap's lock
	queued     bool   // is in its owner's inbox; under the heap's lock
	place      place  // of an owned slab: where its owner keeps it; the owner's

	shape atomic.Uint64 // size and reciprocal of the class; see the packing below
	_     [8]byte
	words [slotWords]slabWord
	_     [16]byte
}

// slabWord is 64 slots. Both masks lie side by side, since a free by the owner
// looks at both.
type slabWord struct {
	// live: a bit is clear when its slot can be had (shared), or when somebody
	// else than the owner freed it (owned).
	live atomic.Uint64
	// own: a bit is set when the owner counts its slot as in use; only the owner
	// writes it.
	own uint64
}

// slabPage holds the slabs of a megachunk.
type slabPage struct {
	slabs [ChunksPerMegachunk]slab
}

// The layout above, pinned.
const (
	_ = uint(unsafe.Sizeof(slab{}) - 320)
	_ = uint(320 - unsafe.Sizeof(slab{}))
)

// A head packs, from the lowest bit on: kind 3 bits, class 5, chunks of a run 8
// (1..64), chunk where the block or slab begins 20, owner 20 (0: shared).
const (
	kindNone     = 0 // not held, held ahead, or another chunk of a run
	kindSlots    = 1
	kindRun      = 2 // first chunk of a run that is one block
	kindWide     = 3 // first chunk of a wide slab
	kindInterior = 4 // another chunk of such a slab
	kindMask     = 7

	headClass  = 3
	headChunks = 8
	headFirst  = 16
	headOwner  = 36
	firstMask  = 1<<20 - 1
	ownerMask  = 1<<20 - 1
)

func headOf(kind uint64, class, chunks int, first ChunkIndex, owner uint32) uint64 {
	return kind | uint64(class)<<headClass | uint64(chunks)<<headChunks | uint64(first)<<headFirst | uint64(owner)<<headOwner
}

func classIn(head uint64) int        { return int(head>>headClass) & (classLimit - 1) }
func chunksIn(head uint64) int       { return int(head>>headChunks) & 0xFF }
func firstIn(head uint64) ChunkIndex { return ChunkIndex(head >> headFirst & firstMask) }
func ownerIn(head uint64) uint32     { return uint32(head >> headOwner & ownerMask) }

// shapeOf packs what a free needs: reciprocal 32 bits, end 32. It lies in the
// slab, so that a free does not go from the head to the class to the slot.
func shapeOf(k *class) uint64 { return uint64(k.reciprocal) | uint64(k.end)<<32 }

// scaled is an offset into a chunk in slots, as a fixed-point number of 32 bits
// behind the point. What is behind the point is below the reciprocal exactly
// when a slot begins at the offset: slot q gives q*e with e < size for the error
// of rounding the reciprocal up, below 16,384, and a byte r behind it r times the
// reciprocal more, which never reaches the next slot.
func scaled(offset uint32, shape uint64) (slot uint32, begins bool) {
	x := uint64(offset) * uint64(uint32(shape))
	return uint32(x >> 32), uint32(x) < uint32(shape)
}

// The states of a slab of slots. Under the heap's lock all are written; without
// it only full -> listing and owned -> mailed, by compare-and-swap.
const (
	stateNone    uint32 = iota // no slots
	stateHeld                  // current of a shard
	stateListed                // in the list of its class
	stateFull                  // nobody looks at it: the first free has to list it
	stateListing               // somebody is about to list it
	stateOwned                 // a Local's
	stateMailed                // a Local's, and somebody told or is about to tell it of a free
)

// place is where an owner keeps a slab.
type place uint8

const (
	placeCurrent place = iota // allocates from it
	placePartial              // in the list of those with a free slot
	placeFull                 // in the list of those without
)

// chunk returns the chunk of a slab of slots.
func (s *slab) chunk() ChunkIndex { return firstIn(s.head.Load()) }

// store writes a word of own. Stats, Usable and frees of others look at own
// while the owner is at work. They want one bit that does not change meanwhile,
// or a figure of no single instant; a plain store of one word serves them, and
// an atomic one costs as much as the rest of an allocation. Race builds make it
// atomic, so that they report every other access.
func store(word *uint64, v uint64) {
	if debug.On {
		atomic.StoreUint64(word, v)
		return
	}
	*word = v
}

// claim takes a clear bit of live, by compare-and-swap, lowest first from the
// hint on. lost says that another goroutine was faster once.
func (s *slab) claim(words int) (slot int, ok, lost bool) {
	from := int(s.low.Load())
	for i := from; i < words; i++ {
		for {
			w := s.words[i].live.Load()
			if w == ^uint64(0) {
				break
			}
			bit := bits.TrailingZeros64(^w)
			if s.words[i].live.CompareAndSwap(w, w|1<<bit) {
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
		if s.words[i].live.Load() != ^uint64(0) {
			return true
		}
	}
	return false
}

// isEmpty reports whether no slot of a shared slab is in use.
func (s *slab) isEmpty(k *class) bool {
	for i := range int(k.words) {
		if s.words[i].live.Load() != k.beyond(i) {
			return false
		}
	}
	return true
}

// claimAll takes every slot of an empty shared slab, or none.
func (s *slab) claimAll(k *class) bool {
	for i := range int(k.words) {
		if !s.words[i].live.CompareAndSwap(k.beyond(i), ^uint64(0)) {
			for j := range i {
				s.words[j].live.And(k.beyond(j))
			}
			return false
		}
	}
	return true
}

// ownsNothing reports whether the owner counts no slot as in use.
func (s *slab) ownsNothing(k *class) bool {
	for i := range int(k.words) {
		if s.words[i].own != k.beyond(i) {
			return false
		}
	}
	return true
}

// fold takes over the frees of others: bits that are clear in live. It returns a
// slot that was freed and was not in use, or -1.
func (s *slab) fold(k *class) (bad int) {
	bad = -1
	for i := range int(k.words) {
		if s.words[i].live.Load() == ^uint64(0) {
			continue
		}
		// What the Or has set, and nothing else, is ours: an allocator with a
		// stale view of the slab may be about to set a bit and clear it again.
		freed := ^s.words[i].live.Or(^uint64(0))
		if twice := freed &^ s.words[i].own; twice != 0 {
			bad = i*64 + bits.TrailingZeros64(twice)
		}
		store(&s.words[i].own, s.words[i].own&^freed)
	}
	return bad
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

// at returns the slab of a chunk, or nil when the heap never held a chunk of the
// megachunk.
func (t slabTable) at(c ChunkIndex) *slab {
	if page := t[c/ChunksPerMegachunk].Load(); page != nil {
		return &page.slabs[c%ChunksPerMegachunk]
	}
	return nil
}

// link returns the slab of a link, which is not 0.
func (t slabTable) link(at uint32) *slab { return t.at(ChunkIndex(at - 1)) }

// made is at, and makes the page.
func (t slabTable) made(c ChunkIndex) *slab {
	if s := t.at(c); s != nil {
		return s
	}
	t[c/ChunksPerMegachunk].CompareAndSwap(nil, new(slabPage))
	return t.at(c)
}
