package alloc

import (
	"errors"
	"fmt"
	"unsafe"

	"quarry/internal/debug"
	"quarry/mmap"
)

// The heap.
//
// Where a block lives follows from its size and alignment alone:
//
//	size, bytes            place
//	0 .. 8,192             a slot of a slab: one chunk cut into slots of a class
//	8,193 .. 1,048,576     a run of 1 to 64 chunks
//	above                  a mapping of its own
//
// An alignment above 16 B picks a class whose size is a multiple of it; above
// 8 KiB a run (16 KiB) or a mapping.
//
// All books are in Go memory. From an address the heap finds the chunk by
// arithmetic, the slab by one table look-up and the slot by one multiplication;
// blocks have no header.
//
// Invariants, checked by Verify:
//
//	H1 used of a slab is the number of slots that its mask says are in use.
//	H2 Every slab's chunks are in use in the universe and lead back to it.
//	H3 A slab of slots is listed exactly when it has a free slot.
//	H4 The books (blocks, bytes, chunks) are the sums over slabs and mappings.

// ErrLeak is wrapped by Close when blocks were still live.
var ErrLeak = errors.New("blocks were never freed")

// Heap allocates blocks of any size on a universe. One goroutine at a time may
// use it. Blocks are not cleared.
type Heap struct {
	u        *Universe
	lists    [classCount]slabList       // slabs with a free slot, by class
	spare    [classCount]*slab          // one empty slab per class, kept against thrashing
	slabs    slabTable                  // chunk -> slab
	mappings map[unsafe.Pointer]mapping // blocks above 1 MiB or 16 KiB alignment
	stats    HeapStats
	closed   bool
}

// mapping is a block with a region of its own.
type mapping struct {
	region *mmap.Region
	usable int // bytes from the block's address on
}

// HeapStats are the books of a heap. Sizes are in bytes.
type HeapStats struct {
	LiveBlocks int // blocks handed out and not freed
	LiveBytes  int // usable bytes of those blocks
	Chunks     int // chunks of the universe that the heap holds
	Mapped     int // committed by mappings of their own
}

// NewHeap makes an empty heap on u. It takes chunks as it needs them.
func NewHeap(u *Universe) (*Heap, error) {
	if u.index.Words() == 0 {
		panic("alloc: NewHeap: the universe is closed")
	}
	return &Heap{
		u:        u,
		slabs:    slabTable{pages: make([]*[ChunksPerMegachunk]*slab, u.index.Words())},
		mappings: map[unsafe.Pointer]mapping{},
	}, nil
}

// Alloc returns a block of at least size bytes, aligned to align: a power of
// two up to 1 GiB, or 0 for 16. Size 0 gives a block of its own. The contents
// are not cleared. Errors wrap ErrFull, ErrCommit, ErrReserve or ErrTooBig; nothing has
// changed then. It panics for a negative size or an alignment that is not a
// power of two.
func (h *Heap) Alloc(size, align int) (unsafe.Pointer, error) {
	h.checkRequest("Alloc", size, align)
	if size <= maxSlot {
		if class, ok := classFor(size, align); ok {
			return h.allocSlot(class)
		}
	}
	if size <= maxRunBytes && align <= ChunkSize {
		return h.allocRun((max(size, 1) + ChunkSize - 1) / ChunkSize)
	}
	return h.allocMapping(size, align)
}

func (h *Heap) checkRequest(name string, size, align int) {
	if size < 0 || align < 0 || align&(align-1) != 0 || align > maxAlignment || h.closed {
		h.badRequest(name, size, align)
	}
}

func (h *Heap) allocSlot(class int) (unsafe.Pointer, error) {
	s := h.lists[class].head
	if s == nil {
		if s = h.spare[class]; s != nil {
			h.spare[class] = nil
		} else {
			first, err := h.u.AllocExact(1)
			if err != nil {
				return nil, fmt.Errorf("alloc: Heap.Alloc: block of %d bytes: %w", classSizes[class], err)
			}
			s = new(slab)
			s.reset(first, class)
			h.slabs.set(first, 1, s)
			h.stats.Chunks++
		}
		h.lists[class].push(s)
	}
	slot := s.take()
	if s.isFull() {
		h.lists[class].remove(s)
	}
	size := classSizes[class]
	h.stats.LiveBlocks++
	h.stats.LiveBytes += int(size)
	// Safe because slot is below the class's slots, so the block lies in the
	// slab's chunk, which the heap holds.
	p := unsafe.Add(h.u.Pointer(s.first), uintptr(slot*size))
	if debug.On {
		debug.Poison(unsafe.Slice((*byte)(p), size), debug.Fresh)
	}
	return p, nil
}

func (h *Heap) allocRun(n int) (unsafe.Pointer, error) {
	first, err := h.u.AllocExact(n)
	if err != nil {
		return nil, fmt.Errorf("alloc: Heap.Alloc: block of %d chunks: %w", n, err)
	}
	h.slabs.set(first, n, &slab{first: first, chunks: uint16(n), used: 1, class: runClass})
	h.stats.Chunks += n
	h.stats.LiveBlocks++
	h.stats.LiveBytes += n * ChunkSize
	return h.u.Pointer(first), nil
}

// Free gives a block back. nil is allowed and does nothing. It panics for an
// address that is not that of a live block of this heap (freed twice, an interior
// pointer, memory of somebody else), and when the system refuses to take a
// mapping back.
func (h *Heap) Free(p unsafe.Pointer) {
	if p == nil {
		return
	}
	s, slot := h.find("Free", p)
	switch {
	case s == nil:
		h.freeMapping(p)
	case s.class == runClass:
		n := int(s.chunks)
		h.slabs.set(s.first, n, nil)
		h.stats.Chunks -= n
		h.stats.LiveBlocks--
		h.stats.LiveBytes -= n * ChunkSize
		h.u.Free(s.first, n)
	default:
		h.freeSlot(s, slot, p)
	}
}

func (h *Heap) freeSlot(s *slab, slot uint32, p unsafe.Pointer) {
	class := s.class
	if debug.On {
		// Safe because find has shown that p is a live block of this class.
		debug.Poison(unsafe.Slice((*byte)(p), classSizes[class]), debug.Freed)
	}
	s.give(slot)
	h.stats.LiveBlocks--
	h.stats.LiveBytes -= int(classSizes[class])
	if !s.listed {
		h.lists[class].push(s)
	}
	if s.used == 0 {
		h.lists[class].remove(s)
		if h.spare[class] == nil {
			h.spare[class] = s
		} else {
			h.dropSlab(s)
		}
	}
}

func (h *Heap) dropSlab(s *slab) {
	h.slabs.set(s.first, 1, nil)
	h.stats.Chunks--
	h.u.Free(s.first, 1)
}

// find returns the slab and slot of a live block, or a nil slab for a mapping.
func (h *Heap) find(name string, p unsafe.Pointer) (*slab, uint32) {
	if h.closed {
		panic(fmt.Sprintf("alloc: Heap.%s: the heap is closed", name))
	}
	c, ok := h.u.IndexOf(p)
	if !ok {
		if _, ok := h.mappings[p]; !ok {
			panic(fmt.Sprintf("alloc: Heap.%s: %p is not a block of this heap", name, p))
		}
		return nil, 0
	}
	s := h.slabs.at(c)
	if s == nil {
		panic(fmt.Sprintf("alloc: Heap.%s: %p, in chunk %d, is not a block of this heap (freed twice?)", name, p, c))
	}
	offset := uint32(uintptr(p) - uintptr(h.u.Pointer(s.first)))
	if s.class == runClass {
		if offset != 0 {
			panic(fmt.Sprintf("alloc: Heap.%s: %p points %d bytes into a block of %d chunks", name, p, offset, s.chunks))
		}
		return s, 0
	}
	slot := slotAt(int(s.class), offset)
	if inside := offset - slot*classSizes[s.class]; inside != 0 || slot >= uint32(classSlots[s.class]) {
		panic(fmt.Sprintf("alloc: Heap.%s: %p points %d bytes into a slot of %d bytes", name, p, inside, classSizes[s.class]))
	}
	if s.mask[slot/64]>>(slot%64)&1 == 0 {
		panic(fmt.Sprintf("alloc: Heap.%s: %p, slot %d of chunk %d, is free (freed twice?)", name, p, slot, s.first))
	}
	return s, slot
}

// Usable returns the bytes that a live block may use, at least those asked for.
func (h *Heap) Usable(p unsafe.Pointer) int {
	s, _ := h.find("Usable", p)
	switch {
	case s == nil:
		return h.mappings[p].usable
	case s.class == runClass:
		return int(s.chunks) * ChunkSize
	}
	return int(classSizes[s.class])
}

// Realloc makes a block larger or smaller and keeps its first min(old, new)
// bytes, in place where the block has the room and would not waste half of it.
// A nil block is an Alloc. On an error the old block is as it was.
func (h *Heap) Realloc(p unsafe.Pointer, size, align int) (unsafe.Pointer, error) {
	if p == nil {
		return h.Alloc(size, align)
	}
	h.checkRequest("Realloc", size, align)
	have := h.Usable(p)
	if size <= have && size >= have/2 && (align == 0 || uintptr(p)&uintptr(align-1) == 0) {
		return p, nil
	}
	q, err := h.Alloc(size, align)
	if err != nil {
		return nil, err
	}
	n := min(size, have)
	// Safe because both blocks are live and at least n bytes long.
	copy(unsafe.Slice((*byte)(q), n), unsafe.Slice((*byte)(p), n))
	h.Free(p)
	return q, nil
}

//go:noinline
func (h *Heap) badRequest(name string, size, align int) {
	if h.closed {
		panic("alloc: Heap." + name + ": the heap is closed")
	}
	panic(fmt.Sprintf("alloc: Heap.%s: size=%d align=%d: want a size >= 0 and a power of two up to %d", name, size, align, maxAlignment))
}

// Stats returns the books.
func (h *Heap) Stats() HeapStats { return h.stats }

// Close returns all memory, live blocks too. When blocks were live the error
// wraps ErrLeak and counts them. A second call does nothing.
func (h *Heap) Close() error {
	if h.closed {
		return nil
	}
	left := h.stats
	var first error
	for p := range h.mappings {
		if err := h.unmap(p); err != nil && first == nil {
			first = err
		}
	}
	h.eachSlab(func(s *slab) { h.u.Free(s.first, int(s.chunks)) })
	h.closed, h.slabs.pages, h.stats = true, nil, HeapStats{}
	if left.LiveBlocks > 0 {
		first = errors.Join(first, fmt.Errorf("alloc: Heap.Close: %d blocks of %d bytes: %w", left.LiveBlocks, left.LiveBytes, ErrLeak))
	}
	return first
}

// eachSlab calls f once per slab.
func (h *Heap) eachSlab(f func(*slab)) {
	for _, page := range h.slabs.pages {
		if page == nil {
			continue
		}
		for i := 0; i < len(page); {
			s := page[i]
			if s == nil {
				i++
				continue
			}
			i += int(s.chunks)
			f(s)
		}
	}
}

// Universe returns the universe that the heap takes its chunks from.
func (h *Heap) Universe() *Universe { return h.u }
