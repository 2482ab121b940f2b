package value

import (
	"fmt"
	"unsafe"

	"quarry/internal/debug"
	"quarry/internal/heap"
	"quarry/internal/universe"
)

// LongError is returned if a buffer would have more elements than a header counts, or more bytes
// than the universe.
type LongError struct {
	Of   string // what there would be too many of: "elements" or "bytes"
	Most int
}

// Error returns the limit as text.
func (e *LongError) Error() string {
	return fmt.Sprintf("value: a buffer of more than %d %s", e.Most, e.Of)
}

// blocks is the source of the blocks that hold spilled elements. All lie in the universe.
type blocks interface {
	Alloc(size, align int) (unsafe.Pointer, error)
	Realloc(p unsafe.Pointer, size, align int) (unsafe.Pointer, error)
	Resize(p unsafe.Pointer, size int) bool
	Free(p unsafe.Pointer)
	Usable(p unsafe.Pointer) int
}

// Spill finds and changes the elements of buffers, and takes blocks from the heap when a buffer
// grows. The world's owner has one; the goroutines of a borrow share another. See [Buffers].
type Spill struct {
	base    unsafe.Pointer // address of the universe's chunk 0
	most    int            // bytes of the universe
	blocks  blocks         // the owner's handle to the heap, or the heap itself, which any goroutine may use
	relieve func() int     // called when the heap refuses: frees chunks and returns their number; may be nil
	of      *Buffers       // knows the snapshots
}

// Block returns the block of a spilled buffer.
func (s *Spill) Block(h *Header) unsafe.Pointer {
	// Safe because ref was made by refOf from a block of this universe.
	return unsafe.Add(s.base, uintptr(h.ref-1)*refUnit)
}

// Elements returns the address of a buffer's first element.
func (s *Spill) Elements(h *Header) unsafe.Pointer {
	if h.ref != 0 {
		return s.Block(h)
	}
	// Safe because the room for inline elements lies after the header in the chunk. When there is
	// no such room, callers read and write nothing at the address.
	return unsafe.Add(unsafe.Pointer(h), HeaderSize)
}

// Bytes returns elements [lo, hi) of the buffer's room.
func (s *Spill) Bytes(h *Header, k *Shape, lo, hi int) []byte {
	size := k.Element
	if lo == hi {
		return nil // a pointer after the last header of a chunk would point outside
	}
	// Safe because lo and hi are at most the capacity.
	return unsafe.Slice((*byte)(unsafe.Add(s.Elements(h), lo*size)), (hi-lo)*size)
}

func (s *Spill) refOf(p unsafe.Pointer) uint32 {
	return uint32((uintptr(p)-uintptr(s.base))/refUnit) + 1
}

// Take returns the header of a buffer with n elements in a new block, which the caller gives to a
// row. The elements are not initialized.
func (s *Spill) Take(k *Shape, n int) (Header, error) {
	room := max(n, k.Inline+1)
	h, err := s.take(nil, k, room, room)
	h.length = uint32(n)
	return h, err
}

// take returns the header of an empty buffer with a block for want elements, or for need elements
// if there is no memory for want. The block is new, or, unless old is nil, that of old, which keeps
// its elements and may move. If the heap refuses, take calls relieve and tries again.
func (s *Spill) take(old *Header, k *Shape, want, need int) (Header, error) {
	most := min(s.most/k.Element, MaxLen)
	if need > most {
		return Header{}, s.tooLong(need)
	}
	size := min(want, most) * k.Element
	p, err := s.alloc(old, size)
	if err != nil && s.relieve != nil && s.relieve() > 0 {
		p, err = s.alloc(old, size)
	}
	if err != nil && want > need {
		size = need * k.Element
		p, err = s.alloc(old, size)
	}
	if err != nil {
		return Header{}, err
	}
	usable := heap.SlotSize(size)
	if usable == 0 {
		usable = s.blocks.Usable(p)
	}
	return Header{ref: s.refOf(p), capacity: k.capacityOf(usable), born: s.of.layerNumber()}, nil
}

// tooLong returns the error for a buffer of n elements.
func (s *Spill) tooLong(n int) error {
	if n > MaxLen {
		return &LongError{"elements", MaxLen}
	}
	return &LongError{"bytes", s.most}
}

// alloc returns a block of size bytes: a new one, or that of old.
func (s *Spill) alloc(old *Header, size int) (unsafe.Pointer, error) {
	if old == nil {
		return s.blocks.Alloc(size, 0)
	}
	return s.blocks.Realloc(s.Block(old), size, 0)
}

// Grow is Rebuild with the room that the shape's Growth returns.
func (s *Spill) Grow(h *Header, k *Shape, need, lo, hi int, from []byte) error {
	return s.Rebuild(h, k, k.Growth.Next(k.Cap(h), need), need, lo, hi, from)
}

// Rebuild moves a buffer to a new block and replaces elements [lo, hi) with from on the way. The
// block has room for want elements, or for need if memory is short; need is at least the new
// length. The old block is freed last, since from may lie in it; a large one grows where it is if
// it can. After an error nothing has changed.
func (s *Spill) Rebuild(h *Header, k *Shape, want, need, lo, hi int, from []byte) error {
	length := int(h.length)
	large := h.large(k) && (lo == hi || hi-lo == length) && !s.of.shared(h) && !s.of.region.has(h.ref)
	if large && 2*length >= int(h.capacity) {
		return s.rebuildLarge(h, k, want, need, lo, hi, from)
	}
	next, err := s.take(nil, k, want, need)
	if err != nil && large {
		return s.rebuildLarge(h, k, want, need, lo, hi, from) // there may be room after the block
	}
	if err != nil {
		return err
	}
	e := s.Bytes(&next, k, 0, int(next.capacity))
	n := Move(e, s.Bytes(h, k, 0, lo))
	n += Move(e[n:], from)
	n += Move(e[n:], s.Bytes(h, k, hi, length))
	next.length = uint32(n / k.Element)
	s.replace(h, next, k)
	return nil
}

// replace overwrites a buffer's header with a spilled one and frees the old block, if there was
// one. If the buffer was inline, debug builds poison its former room.
func (s *Spill) replace(h *Header, next Header, k *Shape) {
	old := *h
	*h = next
	if old.ref != 0 {
		s.free(&old)
	}
	if debug.On && old.ref == 0 {
		debug.Poison(k.inlineRoom(h), debug.Freed)
	}
}

// Roomy reports whether Trim would save much: the elements of a spilled buffer fit the chunk, or
// half of the block.
func (h *Header) Roomy(k *Shape) bool {
	return h.ref != 0 && (int(h.length) <= k.Inline || h.capacity/2 >= h.length)
}

// Trim moves a spilled buffer's elements into the chunk if they fit, else to the smallest block
// that holds them. An inline buffer stays. If the heap refuses the smaller block, the buffer keeps
// its block.
func (s *Spill) Trim(h *Header, k *Shape) {
	if h.ref == 0 {
		return
	}
	p, n := s.Block(h), int(h.length)*k.Element
	if int(h.length) <= k.Inline {
		// Safe because the block is live and holds n bytes of elements.
		copy(k.inlineRoom(h), unsafe.Slice((*byte)(p), n))
		s.free(h)
		*h = Inline(int(h.length))
		return
	}
	if s.of.shared(h) || s.of.region.has(h.ref) {
		return // the block is a snapshot's, or a file's, whose blocks keep their size
	}
	large := h.large(k)
	if large {
		s.blocks.Resize(p, max(n, wholeFrom)) // below that it has no place in a span
	} else {
		s.blocks.Resize(p, n) // frees whole chunks at the block's end, which needs no memory
	}
	usable := s.blocks.Usable(p)
	h.capacity = k.capacityOf(usable)
	if usable-n < refUnit || large && usable-n < universe.ChunkSize {
		return // no block fits n bytes better
	}
	q, err := s.blocks.Alloc(n, 0)
	if err != nil {
		return
	}
	room := s.blocks.Usable(q)
	if room >= usable {
		s.blocks.Free(q)
		return
	}
	// Safe because both blocks are live and n bytes long at least.
	Move(unsafe.Slice((*byte)(q), n), unsafe.Slice((*byte)(p), n))
	s.replace(h, Header{ref: s.refOf(q), length: h.length, capacity: k.capacityOf(room), born: s.of.layerNumber()}, k)
}
