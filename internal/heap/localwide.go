package heap

import (
	"sync/atomic"
	"unsafe"

	"quarry/internal/debug"
	"quarry/internal/universe"
	"quarry/internal/universe/memory"
)

// Wide slots that a Local keeps for reuse, beside the runs of localrun.go and under the same bound.
// A wide slab has one word per slot with the slot's state:
//
//	slab of 4 slots   own[0]      own[1]   own[2]   own[3]   own[4]
//	                  mask        slot 0   slot 1   slot 2   slot 3
//	                  ...1 0111   used     kept     used     free
//
// The mask is under the heap's lock and has the slots that nobody may be given: those in use and
// those kept. Free by a Local turns used into kept by one compare-and-swap, without the lock; a
// free by the heap turns used into free. So of two frees of a slot one fails. The Local that keeps
// a slot turns it back by a plain store.

// The words of slots. The class is part of the word, so that a free which is late does not take the
// slot of a slab that was made anew. A mask of a slab of small slots has the upper bits of such a
// word by an accident of 1 to 2^32 only.
const (
	wideFree = 0
	wideUsed = 0x57A7E000_00000000 // and the class
	wideKept = 0x4EE90000_00000000 // and the class, and the owner from bit wideOwner on

	wideOwner = 8
)

func usedWord(class int) uint64 { return wideUsed | uint64(class) }
func keptWord(class int, owner uint32) uint64 {
	return wideKept | uint64(class) | uint64(owner)<<wideOwner
}

// wideSlot returns the word of a slot of a wide slab.
func (s *slab) wideSlot(slot int) *uint64 { return &s.own()[1+slot] }

// wideStack is the slots of a class that a Local keeps.
type wideStack struct {
	n     int
	slots [4]wideBlock
}

// wideBlock is a wide slot that a Local keeps.
type wideBlock struct {
	p    unsafe.Pointer
	word *uint64
}

// takeWide returns a kept slot of a class, or nil.
func (l *Local) takeWide(number int) unsafe.Pointer {
	k := &l.wide[number]
	if k.n == 0 {
		return nil
	}
	k.n--
	b := k.slots[k.n]
	l.held -= universe.ChunksFor(wideClasses[number].size)
	store(b.word, usedWord(number))
	if debug.On {
		memory.Poison(b.p, wideClasses[number].size, debug.Fresh)
	}
	return b.p
}

// keepWide frees the wide slot at p, in the chunk whose head this is, and keeps it. It returns
// false, and has changed nothing, when there is no slot in use or no place.
func (l *Local) keepWide(p unsafe.Pointer, head uint64) bool {
	number := classIn(head)
	k, first := &l.wide[number], firstIn(head)
	in, size := uint32(uintptr(p)-l.base-uintptr(first)*universe.ChunkSize), uint32(wideClasses[number].size)
	slot := int(in / size)
	if in%size != 0 || slot >= wideClasses[number].slots || k.n == len(k.slots) {
		return false
	}
	word := l.table.at(first).wideSlot(slot)
	if !atomic.CompareAndSwapUint64(word, usedWord(number), keptWord(number, l.id)) {
		return false
	}
	if debug.On {
		memory.Poison(p, int(size), debug.Freed)
	}
	l.reserve(universe.ChunksFor(int(size)))
	k.slots[k.n] = wideBlock{p, word}
	k.n++
	return true
}

// dropWide frees the kept slots and reports whether there were any. The heap's lock is not held.
func (l *Local) dropWide() (some bool) {
	for number := range l.wide {
		for l.wide[number].n > 0 {
			p := l.takeWide(number)
			l.h.free("Local.Trim", p)
			some = true
		}
	}
	return some
}

// verifyWide checks the wide slots that l keeps, and returns how many chunks they count as.
func (v *heapCheck) verifyWide(l *Local) (held int) {
	for number := range l.wide {
		k := &l.wide[number]
		for _, b := range k.slots[:k.n] {
			c, _ := v.h.chunkOf(b.p)
			if *b.word != keptWord(number, l.id) || v.kept[b.word] {
				v.fail("H9: the wide slot at chunk %d that Local %d keeps has the word %#x", c, l.id, *b.word)
			}
			v.kept[b.word] = true
			held += universe.ChunksFor(wideClasses[number].size)
		}
	}
	return held
}

// wide checks a wide slab.
func (v *heapCheck) wide(c universe.ChunkIndex, s *slab, number int) {
	k, w := &wideClasses[number], s.own()[0]
	if w&k.beyond() != k.beyond() || (v.places[s] == "wide") != (^w != 0) {
		v.fail("H8: wide slab at chunk %d: mask %#x of %d slots, place %q", c, w, k.slots, v.places[s])
	}
	for slot := range k.slots {
		word := *s.wideSlot(slot)
		if kept := v.kept[s.wideSlot(slot)]; w>>slot&1 == 0 && word != wideFree ||
			w>>slot&1 != 0 && word != usedWord(number) && !kept {
			v.fail("H8: slot %d of the wide slab at chunk %d: mask %#x, word %#x, kept by a Local %v",
				slot, c, w, word, kept)
		}
	}
}
