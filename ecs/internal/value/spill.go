package value

import (
	"errors"
	"unsafe"

	"quarry/alloc"
	"quarry/internal/debug"
)

// ErrLong is returned if a buffer would have more than MaxBytes.
var ErrLong = errors.New("value: a buffer of more than 1 MiB")

// blocks is the source of the blocks that hold spilled elements.
type blocks interface {
	Alloc(size, align int) (unsafe.Pointer, error)
	Resize(p unsafe.Pointer, size int) bool
	Free(p unsafe.Pointer)
	Usable(p unsafe.Pointer) int
}

// Spill finds and changes the elements of buffers, and takes blocks from the heap when a buffer
// grows. The world's owner has one; the goroutines of a borrow share another. See [Buffers].
type Spill struct {
	base    unsafe.Pointer // address of the universe's chunk 0
	blocks  blocks         // the owner's handle to the heap, or the heap itself, which any goroutine may use
	relieve func() int     // called when the heap refuses: frees chunks and returns their number; may be nil
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
	// Safe because the room for inline elements lies behind the header in the chunk. When there is
	// no such room, callers read and write nothing at the address.
	return unsafe.Add(unsafe.Pointer(h), HeaderSize)
}

// Bytes returns elements [lo, hi) of the buffer's room.
func (s *Spill) Bytes(h *Header, k *Shape, lo, hi int) []byte {
	size := k.Element
	if lo == hi {
		return nil // a pointer behind the last header of a chunk would point outside
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
	h, err := s.take(k, room, room)
	h.length = uint32(n)
	return h, err
}

// take returns the header of an empty buffer with a block for want elements, or for need elements
// if there is no memory for want. If the heap refuses, take calls relieve and tries again.
func (s *Spill) take(k *Shape, want, need int) (Header, error) {
	most := MaxBytes / k.Element
	if need > most {
		return Header{}, ErrLong
	}
	size := min(want, most) * k.Element
	p, err := s.blocks.Alloc(size, 0)
	if err != nil && s.relieve != nil && s.relieve() > 0 {
		p, err = s.blocks.Alloc(size, 0)
	}
	if err != nil && want > need {
		size = need * k.Element
		p, err = s.blocks.Alloc(size, 0)
	}
	if err != nil {
		return Header{}, err
	}
	usable := alloc.SlotSize(size)
	if usable == 0 {
		usable = s.blocks.Usable(p)
	}
	return Header{ref: s.refOf(p), capacity: uint32(usable / k.Element)}, nil
}

// Grow is Rebuild with the room that the shape's Growth asks for.
func (s *Spill) Grow(h *Header, k *Shape, need, lo, hi int, from []byte) error {
	return s.Rebuild(h, k, k.Growth.Next(k.Cap(h), need), need, lo, hi, from)
}

// Rebuild moves a buffer to a new block and replaces elements [lo, hi) with from on the way. The
// block has room for want elements, or for need if memory is short; need is at least the new
// length. The old block is freed last, since from may lie in it. After an error nothing has
// changed.
func (s *Spill) Rebuild(h *Header, k *Shape, want, need, lo, hi int, from []byte) error {
	next, err := s.take(k, want, need)
	if err != nil {
		return err
	}
	length := int(h.length)
	e := s.Bytes(&next, k, 0, int(next.capacity))
	n := copy(e, s.Bytes(h, k, 0, lo))
	n += copy(e[n:], from)
	n += copy(e[n:], s.Bytes(h, k, hi, length))
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
		s.blocks.Free(s.Block(&old))
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
		s.blocks.Free(p)
		*h = Inline(int(h.length))
		return
	}
	s.blocks.Resize(p, n) // frees whole chunks at the block's end, which needs no memory
	usable := s.blocks.Usable(p)
	h.capacity = uint32(usable / k.Element)
	if usable-n < refUnit {
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
	copy(unsafe.Slice((*byte)(q), n), unsafe.Slice((*byte)(p), n))
	s.replace(h, Header{ref: s.refOf(q), length: h.length, capacity: uint32(room / k.Element)}, k)
}
