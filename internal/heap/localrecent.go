package heap

import (
	"math/bits"
	"unsafe"

	"quarry/internal/debug"
	"quarry/internal/universe"
	"quarry/internal/universe/memory"
)

// The free slots that a Local hands out next. By class it keeps those that were freed last, of
// which the newest goes out first, since its line is in the cache; and, for when there is none, the
// rest of what the current slab had free. Slots are offsets in the universe, in quanta:
//
//	class of 64 B   n = 2 | first | step | rest | current slab, lists | recent: 0x404 0x808 ...    256 B
//
// Alloc takes the newest and sets its bit in own, Free clears the bit and makes the slot the
// newest: the masks stay the truth. A second free of a slot finds its bit clear, and for everybody
// else a recent slot is free. The masks are read only when no slot is recent, so none is in recent
// and in rest; what is freed while recent is full, or in a slab in placePartial, which is to lose
// its blocks, is found by the masks again. The slots of a slab that leaves the Local leave recent
// first.
//
// A slab in placeFull counts in freed only those free slots that are not recent. So a program that
// frees and allocates the same few blocks moves no slab between lists.

// recentSlots is how many recent slots a class has at most.
const recentSlots = 54

// localClass is a Local's state for one class.
type localClass struct {
	n       uint32              // recent slots
	first   uint32              // slot of the lowest bit of rest
	step    uint32              // from there to the slot of the next bit
	rest    uint64              // free slots of the current slab: of a word of own, or of all
	current *slab               // or nil
	partial slabList            // own slabs with free slots, newest first
	full    slabList            // own slabs with fewer free slots than 1/batchPart
	recent  [recentSlots]uint32 // in quanta; a universe has at most 1<<30
}

// These constants pin the layout above.
const (
	_ = uint(unsafe.Sizeof(localClass{}) - 256)
	_ = uint(256 - unsafe.Sizeof(localClass{}))
)

const (
	quantaPerChunk = universe.ChunkSize / memory.Quantum
	quantaPerPage  = quantaPerChunk * universe.ChunksPerMegachunk
)

// take marks the slot at an offset as in use and returns its block.
func (l *Local) take(q uint32) unsafe.Pointer {
	w := &l.table[q/quantaPerPage].Load().own[q%quantaPerPage/64]
	store(w, *w|1<<(q%64))
	// Safe because the offset is that of a slot of one of the heap's chunks.
	return unsafe.Add(l.start, uintptr(q)*memory.Quantum)
}

// wholeSlots is how many slots a slab has at most that rest has all at once. In a word of own it
// would have few of them.
const wholeSlots = 64

// advance makes rest what the current slab has of free slots, or the next word of own that has one,
// and reports whether there is one. No slot is recent. It goes on from the word before, so that
// words which stay full are not read for each word that does not.
func (c *localClass) advance(number int) bool {
	s := c.current
	if s == nil {
		return false
	}
	k, own, chunk := &classes[number], s.own(), uint32(s.chunk())*quantaPerChunk
	if k.slots <= wholeSlots {
		used := uint64(0)
		for i, w := range own {
			for ; w != 0; w &= w - 1 {
				used |= 1 << (k.slot(uint32(i*64+bits.TrailingZeros64(w))*memory.Quantum) % 64)
			}
		}
		c.first, c.step, c.rest = chunk, k.size/memory.Quantum, ^(used | k.tail)
		return c.rest != 0
	}
	for range slotWords {
		i := (c.first/64 + 1) % slotWords
		c.first, c.step = chunk+i*64, 1
		if c.rest = starts[number%classLimit][i] &^ own[i]; c.rest != 0 {
			return true
		}
	}
	return false
}

// next removes the slot of the lowest bit of rest, which has one.
func (c *localClass) next() uint32 {
	q := c.first + uint32(bits.TrailingZeros64(c.rest))*c.step
	c.rest &= c.rest - 1
	return q
}

// empty makes no slot of a class recent. A slab that has enough free slots by it is listed.
func (l *Local) empty(number int) {
	c := &l.classes[number]
	for c.n > 0 {
		c.n--
		if s := l.table.at(chunkOfQuantum(c.recent[c.n])); s.place == placeFull {
			l.count(c, s, number, 1)
		}
	}
}

// forget removes the slots of a chunk from the recent ones.
func (c *localClass) forget(chunk universe.ChunkIndex) {
	n := uint32(0)
	for _, q := range c.recent[:c.n] {
		c.recent[n] = q
		if chunkOfQuantum(q) != chunk {
			n++
		}
	}
	c.n = n
}

// chunkOfQuantum returns the chunk that contains an offset in quanta.
func chunkOfQuantum(q uint32) universe.ChunkIndex { return universe.ChunkIndex(q / quantaPerChunk) }

// poisonFresh is for debug builds.
func poisonFresh(p unsafe.Pointer, number int) {
	memory.Poison(p, int(classes[number%classLimit].size), debug.Fresh)
}

// verifyRecent checks the recent slots of l and counts them by slab.
func (v *heapCheck) verifyRecent(l *Local) {
	seen := map[uint32]bool{}
	for number := range l.classes {
		c := &l.classes[number]
		for _, q := range c.recent[:c.n] {
			s, at, m := v.h.table.at(chunkOfQuantum(q)), q/64%slotWords, uint64(1)<<(q%64)
			if head := s.head.Load(); head&localMask != l.key || classIn(head) != number || seen[q] ||
				starts[number][at]&m == 0 || s.own()[at]&m != 0 {
				v.fail("H11: Local %d has offset %d of chunk %d as a recent slot of class %d: it is none, in use, or there twice",
					l.id, q%quantaPerChunk*memory.Quantum, chunkOfQuantum(q), number)
			}
			seen[q] = true
			v.recent[s]++
		}
	}
}
