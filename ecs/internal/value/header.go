package value

import (
	"unsafe"

	"quarry/internal/growth"
	"quarry/internal/store"
	"quarry/internal/universe"
)

// Headers. A row's buffer is one element of a column: a header of 16 bytes and room for some
// elements. While that room suffices, the elements lie in the chunk. When it does not, the buffer
// spills: all its elements move to a block of the heap, and the header records the block's offset
// from the universe's base. So a header holds no address, and chunks can be moved, hashed and
// saved. While a buffer is spilled its room in the chunk is unused; Trim moves elements back if
// they fit again.
//
//	inline   | ref 0      | length | (unused) | 0    | e0 | e1 | ... | e(inline-1) |
//	spilled  | offset/16+1| length | capacity | born | (unused)                    |
//	           4 B          4 B      4 B        4 B
//
// An all-zero header is an empty buffer. The capacity of an inline buffer is its shape's Inline,
// which the header does not repeat. A spilled buffer has room for more elements than fit the chunk
// (H2).
//
// The size of a row keeps elements and header aligned: with elements of 5 bytes, 3 of them inline,
// a row has 16+15+1 = 32 bytes.

// Header is a buffer's first 16 bytes in its row; the room for inline elements follows.
type Header struct {
	ref      uint32 // 0: inline; else 1 + the block's offset from the universe's base in units of 16 B
	length   uint32 // elements in use
	capacity uint32 // elements that the block has room for; meaningful while spilled
	born     uint32 // number of the snapshot that had been taken last when the block was; see past.go
}

const (
	HeaderSize  = 16        // bytes of a header
	HeaderAlign = 4         // its alignment
	InlineBytes = 128       // default room for inline elements
	MaxLen      = 1<<32 - 1 // most elements of a buffer

	refUnit   = 16                     // bytes; the heap's smallest alignment
	wholeFrom = universe.MegachunkSize // bytes; a larger block is a span: whole chunks, which grow and shrink in place
)

const _ = uint(unsafe.Sizeof(Header{}) - HeaderSize)
const _ = uint(HeaderSize - unsafe.Sizeof(Header{}))

// Inline returns the header of a buffer with n elements in the chunk.
func Inline(n int) Header { return Header{length: uint32(n)} }

// Len returns the number of elements.
func (h *Header) Len() int { return int(h.length) }

// SetLen sets the number of elements, which must be at most the capacity.
func (h *Header) SetLen(n int) { h.length = uint32(n) }

// Spilled reports whether the elements lie in a block of the heap.
func (h *Header) Spilled() bool { return h.ref != 0 }

// HeaderAt returns the header of a row of a buffer column whose rows have size bytes.
func HeaderAt(column unsafe.Pointer, row int, size uint32) *Header {
	// Safe because row is one of the chunk's rows and every element of a buffer column begins with
	// a header.
	return (*Header)(unsafe.Add(column, uintptr(row)*uintptr(size)))
}

// HeaderOf returns the header of a row of a store, in a buffer column.
func HeaderOf(r store.Row, c store.Column) *Header {
	// Safe because c is a buffer column of the row's chunk.
	return HeaderAt(unsafe.Add(r.Base, uintptr(c.Offset)*r.Scale), r.Row, c.Size)
}

// Shape describes the buffers of a type.
type Shape struct {
	Element int           // bytes of one element
	Inline  int           // elements that fit the chunk
	Growth  growth.Policy // of the room in elements
}

// Cap returns the number of elements that a buffer has room for.
func (k *Shape) Cap(h *Header) int {
	if h.ref == 0 {
		return k.Inline
	}
	return int(h.capacity)
}

// capacityOf returns the number of elements that fit usable bytes, as far as a header counts.
func (k *Shape) capacityOf(usable int) uint32 { return uint32(min(usable/k.Element, MaxLen)) }

// inlineRoom returns the bytes after a header that hold elements while the buffer is inline.
func (k *Shape) inlineRoom(h *Header) []byte {
	if k.Inline == 0 {
		return nil // a pointer after the last header of a chunk would point outside
	}
	// Safe because the header is that of a row, which has room for inline elements.
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(h), HeaderSize)), k.Inline*k.Element)
}
