package alloc

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"unsafe"

	"quarry/internal/debug"
	"quarry/internal/universe/memory"
)

// The slots of a pool, independent of its type.
//
// A slab is a block of the underlying allocator that holds per slots. Slots are numbered across all
// slabs: slab i has the numbers from i<<shift on. The last of these may stand for no slot, since
// per need not be a power of two. A freed slab keeps its numbers and generations, and is the first
// to get memory again.
//
// Words with a clear bit are on a list, last freed first, so that New and Free each examine one
// word, however many slabs there are.
//
// Invariants, checked by Verify:
//
//	P1 Bits that stand for no slot, and all bits of a slab without memory, are set.
//	P2 A word is on the list exactly when it has a clear bit.
//	P3 A slot's generation is odd exactly when the slot is in use; live counts these slots.
//	P4 byAddress holds the slabs with memory by rising address; backed counts them.
//	P5 In debug builds a free slot holds debug.Freed.
//	P6 The allocator below is open, unless the pool holds none of its blocks.

const (
	leastSlots = 8    // minimum per slab
	mostSlots  = 4096 // maximum per slab
	unlisted   = -1   // link of a word that is not on the list
	lastWord   = -2   // link of the last word on the list
)

type poolSlots struct {
	from        Allocator
	of          reflect.Type // type of the values, for messages
	slabBytes   int          // requested size of a slab
	size        uintptr      // bytes of a slot
	align       int
	per         int // slots of a slab
	shift       uint
	slabs       []unsafe.Pointer // nil: without memory
	byAddress   []int32          // slabs with memory, by rising address
	used        []uint64         // one bit per slot
	links       []int32          // per word of used: the next word on the list
	head        int32            // first word on the list
	generations []uint32         // per slot, including numbers that stand for no slot
	live        int              // slots in use
	recent      int              // slab of the last lookup
	backed      int              // number of slabs with memory
	closed      bool
}

// shape computes the size, number and numbering of slots.
func (s *poolSlots) shape(size, align int) {
	s.align = align
	s.size = uintptr(max(size, 1)+align-1) &^ uintptr(align-1)
	s.per = min(max(s.slabBytes/int(s.size), leastSlots), mostSlots)
	s.shift = max(6, uint(bits.Len(uint(s.per-1))))
	s.head = lastWord
}

// words returns the number of words of used per slab.
func (s *poolSlots) words() int { return 1 << (s.shift - 6) }

// noSlotBits returns the bits of word i of a slab that stand for no slot.
func (s *poolSlots) noSlotBits(i int) uint64 {
	switch in := s.per - i*64; {
	case in <= 0:
		return ^uint64(0)
	case in < 64:
		return ^uint64(0) << in
	}
	return 0
}

// pointer returns the address of slot i, whose slab has memory.
func (s *poolSlots) pointer(i int) unsafe.Pointer {
	// Safe because the slot lies in the slab, which has per slots.
	return unsafe.Add(s.slabs[i>>s.shift], uintptr(i&(1<<s.shift-1))*s.size)
}

// take allocates a slot and returns its address.
func (s *poolSlots) take(name string) (unsafe.Pointer, error) {
	i, err := s.takeSlot(name)
	if err != nil {
		return nil, err
	}
	return s.pointer(i), nil
}

// takeSlot allocates a slot and returns its number.
func (s *poolSlots) takeSlot(name string) (int, error) {
	if debug.On && !s.closed {
		checkBelow(name, s.from)
	}
	if s.head < 0 {
		if err := s.grow(name); err != nil {
			return 0, err
		}
	}
	w := int(s.head)
	bit := bits.TrailingZeros64(^s.used[w])
	s.used[w] |= 1 << bit
	if s.used[w] == ^uint64(0) {
		s.head, s.links[w] = s.links[w], unlisted
	}
	i := w<<6 | bit
	s.generations[i]++
	s.live++
	if debug.On {
		p := s.pointer(i)
		s.checkFreed(name, i, p)
		memory.Poison(p, int(s.size), debug.Fresh)
	}
	return i, nil
}

// checkFreed panics when a free slot was written to.
func (s *poolSlots) checkFreed(name string, i int, p unsafe.Pointer) {
	// Safe because the slot has size bytes.
	if at := slices.IndexFunc(unsafe.Slice((*byte)(p), s.size),
		func(b byte) bool { return b != debug.Freed }); at >= 0 {
		panic(fmt.Sprintf("alloc: %s: byte %d of slot %d, of a %s at %p, was written while it was free",
			name, at, i, s.of, p))
	}
}

// grow adds a slab.
func (s *poolSlots) grow(name string) error {
	if s.closed {
		panic("alloc: " + name + ": the pool is closed")
	}
	slab := slices.Index(s.slabs, nil)
	if slab < 0 {
		slab = len(s.slabs)
	}
	if (slab+1)<<s.shift > math.MaxUint32 {
		return fmt.Errorf("alloc: %s: %d slots: %w", name, slab<<s.shift, ErrFull)
	}
	p, err := s.from.Alloc(s.per*int(s.size), max(s.align, arenaAlign))
	if err != nil {
		return fmt.Errorf("alloc: %s: slab of %d values of %d bytes: %w", name, s.per, s.size, err)
	}
	if slab == len(s.slabs) {
		s.slabs = append(s.slabs, nil)
		s.generations = append(s.generations, make([]uint32, 1<<s.shift)...)
		for range s.words() {
			s.used = append(s.used, ^uint64(0))
			s.links = append(s.links, unlisted)
		}
	}
	if debug.On {
		memory.Poison(p, s.per*int(s.size), debug.Freed)
	}
	s.slabs[slab] = p
	s.backed++
	at, _ := s.search(p)
	s.byAddress = slices.Insert(s.byAddress, at, int32(slab))
	for i := s.words() - 1; i >= 0; i-- {
		if b := s.noSlotBits(i); b != ^uint64(0) {
			w := slab*s.words() + i
			s.used[w] = b
			s.links[w], s.head = s.head, int32(w)
		}
	}
	return nil
}

// search returns the index in byAddress of the slab that begins at p, or where that slab would be.
func (s *poolSlots) search(p unsafe.Pointer) (at int, found bool) {
	return slices.BinarySearchFunc(s.byAddress, uintptr(p), func(slab int32, p uintptr) int {
		return cmp.Compare(uintptr(s.slabs[slab]), p)
	})
}

// lookup returns the slot that contains p and the offset of p in it, or -1.
func (s *poolSlots) lookup(p unsafe.Pointer) (i int, inside uintptr) {
	slab := s.recent
	if slab >= len(s.slabs) || uintptr(p)-uintptr(s.slabs[slab]) >= uintptr(s.per)*s.size {
		at, found := s.search(p)
		if !found {
			at--
		}
		if at < 0 {
			return -1, 0
		}
		slab = int(s.byAddress[at])
	}
	in := uintptr(p) - uintptr(s.slabs[slab])
	if in >= uintptr(s.per)*s.size {
		return -1, 0
	}
	s.recent = slab
	return slab<<s.shift | int(in/s.size), in % s.size
}

// find returns the slot of the live value at p, or panics.
func (s *poolSlots) find(name string, p unsafe.Pointer) int {
	i, inside := s.lookup(p)
	switch {
	case s.closed:
		panic("alloc: " + name + ": the pool is closed")
	case i < 0:
		panic(fmt.Sprintf("alloc: %s: %p is not a %s of this pool", name, p, s.of))
	case inside != 0:
		panic(fmt.Sprintf("alloc: %s: %p points %d bytes into a slot of %d bytes", name, p, inside, s.size))
	case s.generations[i]&1 == 0:
		panic(fmt.Sprintf("alloc: %s: the %s at %p, slot %d, is free (freed twice?)", name, s.of, p, i))
	}
	return i
}

// free frees the live slot at p, or panics.
func (s *poolSlots) free(name string, p unsafe.Pointer) { s.freeSlot(s.find(name, p)) }

// freeSlot frees a live slot.
func (s *poolSlots) freeSlot(i int) {
	if debug.On {
		memory.Poison(s.pointer(i), int(s.size), debug.Freed)
	}
	w := i >> 6
	if s.used[w] == ^uint64(0) {
		s.links[w], s.head = s.head, int32(w)
	}
	s.used[w] &^= 1 << (i & 63)
	s.generations[i]++
	s.live--
}

// next returns the first slot in use from i on, or -1.
func (s *poolSlots) next(i int) int {
	for w := i >> 6; w < len(s.used); w++ {
		used := s.used[w] &^ s.noSlotBits(w&(s.words()-1))
		if w == i>>6 {
			used &= ^uint64(0) << (i & 63)
		}
		if used != 0 && s.slabs[w<<6>>s.shift] != nil {
			return w<<6 | bits.TrailingZeros64(used)
		}
	}
	return -1
}

// fits returns an error unless a slot can hold the block.
func (s *poolSlots) fits(size, align int) error {
	if uintptr(size) > s.size || align > max(s.align, arenaAlign) || s.size%uintptr(max(align, 1)) != 0 ||
		align == 0 && s.size%memory.Quantum != 0 {
		return fmt.Errorf("alloc: Pool: block of %d bytes aligned to %d, a %s has %d aligned to %d: %w",
			size, align, s.of, s.size, s.align, ErrTooBig)
	}
	return nil
}

// checkSized panics unless the live block at p can have been allocated with size and align.
func (s *poolSlots) checkSized(name string, p unsafe.Pointer, size, align int) {
	memory.Check(name, size, align)
	if s.find(name, p); s.fits(size, align) != nil {
		panic(fmt.Sprintf("alloc: %s: the slot at %p has %d bytes: it was not allocated with size=%d align=%d",
			name, p, s.size, size, align))
	}
}

// trim frees slabs without a live slot. When the underlying allocator requires frees in order, it
// frees only the newest slabs, up to the first that is in use.
func (s *poolSlots) trim() {
	if s.closed {
		return
	}
	defer s.relist() // also when the underlying allocator panics half way
	inOrder := FreesInOrder(s.from)
	for slab := len(s.slabs) - 1; slab >= 0; slab-- {
		if s.slabs[slab] == nil {
			continue
		}
		if s.isEmpty(slab) {
			s.drop(slab)
			for i := range s.words() {
				s.used[slab*s.words()+i] = ^uint64(0)
			}
		} else if inOrder {
			break
		}
	}
}

func (s *poolSlots) isEmpty(slab int) bool {
	for i := range s.words() {
		if s.used[slab*s.words()+i] != s.noSlotBits(i) {
			return false
		}
	}
	return true
}

// drop frees the memory of a slab.
func (s *poolSlots) drop(slab int) {
	// First: when it panics nothing has changed.
	s.from.FreeSized(s.slabs[slab], s.per*int(s.size), max(s.align, arenaAlign))
	at, _ := s.search(s.slabs[slab])
	s.byAddress = slices.Delete(s.byAddress, at, at+1)
	s.slabs[slab] = nil
	s.backed--
}

// relist rebuilds the list of words.
func (s *poolSlots) relist() {
	s.head = lastWord
	for w := len(s.used) - 1; w >= 0; w-- {
		if s.links[w] = unlisted; s.used[w] != ^uint64(0) {
			s.links[w], s.head = s.head, int32(w)
		}
	}
}

// abandon closes the pool without a free: the allocator below has taken the slabs back.
func (s *poolSlots) abandon() {
	*s = poolSlots{
		from: s.from, of: s.of, size: s.size, per: s.per, shift: s.shift, align: s.align, head: lastWord, closed: true,
	}
}

func (s *poolSlots) close() error {
	var err error
	if s.live > 0 {
		err = fmt.Errorf("alloc: Pool.Close: %d values of %s: %w", s.live, s.of, ErrLeak)
	}
	// First, so that nothing is live if FreeSized panics.
	s.closed, s.head, s.used, s.links, s.generations = true, lastWord, nil, nil, nil
	for slab := len(s.slabs) - 1; slab >= 0; slab-- {
		if s.slabs[slab] != nil {
			s.drop(slab)
		}
	}
	s.abandon()
	return err
}

// verify checks the numbered invariants of the pool.
func (s *poolSlots) verify() error {
	if s.backed > 0 && isClosed(s.from) {
		return fmt.Errorf("alloc: pool: P6: %d slabs are of an allocator that is closed", s.backed)
	}
	listed := map[int32]bool{}
	for w := s.head; w >= 0; w = s.links[w] {
		if listed[w] {
			return fmt.Errorf("alloc: pool: P2: word %d is on the list twice", w)
		}
		listed[w] = true
	}
	live := 0
	for w, used := range s.used {
		slab, in := w/s.words(), w%s.words()
		if beyond := s.noSlotBits(in); used&beyond != beyond || s.slabs[slab] == nil && used != ^uint64(0) {
			return fmt.Errorf("alloc: pool: P1: word %d is %#x, bits of no slot are clear", w, used)
		}
		if listed[int32(w)] != (used != ^uint64(0)) || (s.links[w] != unlisted) != listed[int32(w)] {
			return fmt.Errorf("alloc: pool: P2: word %d is %#x, on the list: %v, its link is %d",
				w, used, listed[int32(w)], s.links[w])
		}
		for bit := range 64 {
			i := w<<6 | bit
			inUse := used&^s.noSlotBits(in)>>bit&1 != 0 && s.slabs[slab] != nil
			if inUse != (s.generations[i]&1 != 0) {
				return fmt.Errorf("alloc: pool: P3: slot %d, in use: %v, is of generation %d",
					i, inUse, s.generations[i])
			}
			if inUse {
				live++
			} else if debug.On && used>>bit&1 == 0 {
				if err := s.verifyFreed(i); err != nil {
					return err
				}
			}
		}
	}
	if live != s.live {
		return fmt.Errorf("alloc: pool: P3: %d slots are in use, counted as %d", live, s.live)
	}
	return s.verifySlabs()
}

// verifyFreed checks P5 of a free slot.
func (s *poolSlots) verifyFreed(i int) error {
	p := s.pointer(i)
	// Safe because the slot has size bytes.
	for at, b := range unsafe.Slice((*byte)(p), s.size) {
		if b != debug.Freed {
			return fmt.Errorf("alloc: pool: P5: byte %d of slot %d at %p was written while it was free", at, i, p)
		}
	}
	return nil
}

// verifySlabs checks P4.
func (s *poolSlots) verifySlabs() error {
	backed := 0
	for _, p := range s.slabs {
		if p != nil {
			backed++
		}
	}
	rising := slices.IsSortedFunc(s.byAddress, func(a, b int32) int {
		return cmp.Compare(uintptr(s.slabs[a]), uintptr(s.slabs[b]))
	})
	if backed != s.backed || backed != len(s.byAddress) || !rising {
		return fmt.Errorf("alloc: pool: P4: %d slabs have memory, counted as %d, listed %d, by rising address: %v",
			backed, s.backed, len(s.byAddress), rising)
	}
	return nil
}
