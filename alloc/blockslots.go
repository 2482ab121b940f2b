package alloc

import (
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"quarry/internal/universe/memory"
)

// The slots of a Blocks, which a reference names. A slot has all that a look-up needs, so that it
// waits for one line of memory before it waits for the block's:
//
//	slab, a block of ChunkSize from the allocator: 1,024 slots of 16 B
//	| place 8 B                           | generation | size |
//	  live: address | code of alignment       4 B        4 B
//	  free: next free slot + 1, or 0
//
// Slots are numbered across all slabs: slab i has the numbers from i<<slotShift on. Free ones are
// linked, last freed first. A slab that Trim gives up leaves its generations in Go memory, and is
// the first to get memory again.
//
// Invariants, checked by Verify as B1:
//
//	Each free slot of a slab with memory is linked once; its generation is even. The others are
//	live, of an odd generation, and counted.

// blockSlot is where a block is.
type blockSlot struct {
	place      uint64 // of a live block: address, and alignCode above it; else a link
	generation uint32 // odd while the block is live
	size       uint32 // bytes; hugeSize: see blockSlots.huge
}

const (
	slotShift = 10 // slots of a slab, as a power of two
	slotBytes = 16
	slotMask  = 1<<slotShift - 1
	hugeSize  = math.MaxUint32
	codeShift = 58 // addresses are below: no system hands out more than 57 bits
)

const _ = uint(slotBytes<<slotShift - ChunkSize)
const _ = uint(ChunkSize - slotBytes<<slotShift)

// alignCode returns an alignment as a number of 6 bits: 0 for 0, else 1 more than its logarithm.
func alignCode(align int) uint64 { return uint64(bits.Len64(uint64(align))) }

// pointer returns the address of the live block.
func (s *blockSlot) pointer() unsafe.Pointer {
	at := uintptr(s.place & (1<<codeShift - 1))
	// Safe because it is off the heap, where nothing moves, and the block is live.
	return *(*unsafe.Pointer)(unsafe.Pointer(&at))
}

// align returns the alignment that was asked for.
func (s *blockSlot) align() int { return 1 << (s.place >> codeShift) >> 1 }

// blockSlots are the slots of a Blocks.
type blockSlots struct {
	slabs []unsafe.Pointer // nil: without memory
	left  map[int][]uint32 // generations of slabs without memory
	huge  map[uint32]int   // sizes of blocks of 4 GiB - 1 and more, by slot
	free  uint32           // first free slot + 1; 0: there is none
	live  int              // slots in use
}

// find returns the slot of a live block, or nil.
func (s *blockSlots) find(r BlockRef) *blockSlot {
	slab := uint(r.Slot >> slotShift)
	if s.live == 0 || slab >= uint(len(s.slabs)) { // live also shows the reader to the race detector
		return nil
	}
	base := s.slabs[slab]
	if base == nil || r.Generation&1 == 0 {
		return nil
	}
	// Safe because the slab has 1<<slotShift slots.
	if at := (*blockSlot)(unsafe.Add(base, uintptr(r.Slot&slotMask)*slotBytes)); at.generation == r.Generation {
		return at
	}
	return nil
}

// at returns slot i, whose slab has memory.
func (s *blockSlots) at(i uint32) *blockSlot {
	// Safe because the slab has 1<<slotShift slots.
	return (*blockSlot)(unsafe.Add(s.slabs[i>>slotShift], uintptr(i&slotMask)*slotBytes))
}

// take makes the first free slot, which there is, that of a block.
func (s *blockSlots) take(p unsafe.Pointer, size, align int) BlockRef {
	i := s.free - 1
	at := s.at(i)
	s.free = uint32(at.place)
	at.place = uint64(uintptr(p)) | alignCode(align)<<codeShift
	at.generation++
	s.setSize(i, at, size)
	s.live++
	return BlockRef{i, at.generation}
}

// release makes the slot of a live block free.
func (s *blockSlots) release(i uint32, at *blockSlot) {
	if at.size == hugeSize {
		delete(s.huge, i)
	}
	at.generation++
	at.place, s.free = uint64(s.free), i+1
	s.live--
}

// setSize records the size of a block in slot i.
func (s *blockSlots) setSize(i uint32, at *blockSlot, size int) {
	if uint(size) < hugeSize {
		at.size = uint32(size)
		return
	}
	if s.huge == nil {
		s.huge = map[uint32]int{}
	}
	at.size, s.huge[i] = hugeSize, size
}

// sizeOf returns the size of the block in slot i.
func (s *blockSlots) sizeOf(i uint32, at *blockSlot) int {
	if at.size != hugeSize {
		return int(at.size)
	}
	return s.hugeOf(i)
}

//go:noinline
func (s *blockSlots) hugeOf(i uint32) int { return s.huge[i] }

// grow adds a slab.
func (s *blockSlots) grow(name string, from Allocator) error {
	slab := 0
	for slab < len(s.slabs) && s.slabs[slab] != nil {
		slab++
	}
	if (slab+1)<<slotShift > math.MaxUint32 {
		return fmt.Errorf("alloc: %s: %d slots: %w", name, slab<<slotShift, ErrFull)
	}
	p, err := from.Alloc(ChunkSize, arenaAlign)
	if err != nil {
		return fmt.Errorf("alloc: %s: slab of %d values of %d bytes: %w", name, 1<<slotShift, slotBytes, err)
	}
	memory.Zero(p, ChunkSize)
	if slab == len(s.slabs) {
		s.slabs = append(s.slabs, nil)
	}
	s.slabs[slab] = p
	for i, generation := range s.left[slab] {
		s.at(uint32(slab<<slotShift + i)).generation = generation
	}
	delete(s.left, slab)
	s.link(slab)
	return nil
}

// link puts the free slots of a slab first.
func (s *blockSlots) link(slab int) {
	for i := slab<<slotShift | slotMask; i >= slab<<slotShift; i-- {
		if at := s.at(uint32(i)); at.generation&1 == 0 {
			at.place, s.free = uint64(s.free), uint32(i)+1
		}
	}
}

// next returns the first live slot from i on.
func (s *blockSlots) next(i int) (slot uint32, ok bool) {
	for ; i < len(s.slabs)<<slotShift; i++ {
		if s.slabs[i>>slotShift] == nil {
			i |= slotMask
		} else if s.at(uint32(i)).generation&1 != 0 {
			return uint32(i), true
		}
	}
	return 0, false
}

// trim frees slabs without a live slot, the last one first.
func (s *blockSlots) trim(from Allocator) {
	defer func() { // also when the allocator panics half way
		s.free = 0
		for slab := len(s.slabs) - 1; slab >= 0; slab-- {
			if s.slabs[slab] != nil {
				s.link(slab)
			}
		}
	}()
	for slab := len(s.slabs) - 1; slab >= 0; slab-- {
		first := slab << slotShift
		if s.slabs[slab] == nil {
			continue
		}
		if i, ok := s.next(first); ok && int(i) <= first|slotMask {
			continue
		}
		left := make([]uint32, 1<<slotShift)
		for i := range left {
			left[i] = s.at(uint32(first + i)).generation
		}
		from.FreeSized(s.slabs[slab], ChunkSize, arenaAlign) // first: when it panics nothing has changed
		s.slabs[slab] = nil
		if s.left == nil {
			s.left = map[int][]uint32{}
		}
		s.left[slab] = left
	}
}

// close frees all slabs.
func (s *blockSlots) close(from Allocator) {
	slabs := s.slabs
	*s = blockSlots{} // first, so that nothing is live if FreeSized panics
	for i := len(slabs) - 1; i >= 0; i-- {
		if slabs[i] != nil {
			from.FreeSized(slabs[i], ChunkSize, arenaAlign)
		}
	}
}

// verify checks the invariants of slots.
func (s *blockSlots) verify() error {
	linked := map[uint32]bool{}
	for i := s.free; i != 0; i = uint32(s.at(i - 1).place) {
		if linked[i-1] || s.at(i-1).generation&1 != 0 {
			return fmt.Errorf("slot %d, of generation %d, is linked as free, already before: %v",
				i-1, s.at(i-1).generation, linked[i-1])
		}
		linked[i-1] = true
	}
	live, slots := 0, 0
	for i, ok := s.next(0); ok; i, ok = s.next(int(i) + 1) {
		live++
	}
	for _, p := range s.slabs {
		if p != nil {
			slots += 1 << slotShift
		}
	}
	if live != s.live || live+len(linked) != slots {
		return fmt.Errorf("of %d slots %d are in use, counted as %d, and %d are linked as free",
			slots, live, s.live, len(linked))
	}
	return nil
}
