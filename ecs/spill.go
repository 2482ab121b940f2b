package ecs

import (
	"unsafe"

	"quarry/alloc"
	"quarry/internal/debug"
)

// Buffers. An entity's buffer is one element of a column: a header of 16 bytes
// and room for some elements. While they suffice, elements lie in the chunk;
// then all of them move to a block of the world's heap and the header says
// where, counted from the universe's base. So a header holds no address, and
// chunks can be moved, hashed and saved. The room inside the chunk is unused
// while a buffer is spilled; Trim brings one back that has become short.
//
//	inline   | ref 0      | length | (unused) | 0 | e0 | e1 | ... | e(inline-1) |
//	spilled  | offset/16+1| length | capacity | 0 | (unused)                    |
//	           4 B          4 B      4 B       4 B
//
// An all-zero header is an empty buffer. The capacity of an inline buffer is its
// type's and is written nowhere, so no header can say less. A spilled buffer has
// room for more than what fits inside the chunk: one only spills when that does
// not suffice (W7).
//
// Rows lie size bytes apart, a multiple of the alignment of elements and header:
// elements of 5 bytes, 3 of them inline, have rows of 16+15+1 = 32 bytes.

type header struct {
	ref      uint32 // 0: inline; else 1 + the block's offset from the universe's base in units of 16 B
	length   uint32 // elements in use
	capacity uint32 // elements that the block has room for; meaningful while spilled
	_        uint32 // keeps elements on 16 bytes
}

const (
	headerSize    = 16
	inlineBytes   = 128 // default room inside the chunk
	refUnit       = 16  // bytes; the heap's smallest alignment
	maxSpillBytes = alloc.MegachunkSize
)

const _ = uint(unsafe.Sizeof(header{}) - headerSize)
const _ = uint(headerSize - unsafe.Sizeof(header{}))

// bufferAt returns the header of a row of a buffer column.
func bufferAt(column unsafe.Pointer, row int, size uint32) *header {
	// Safe because row is one of the chunk's rows and every element of a buffer
	// column begins with a header.
	return (*header)(unsafe.Add(column, uintptr(row)*uintptr(size)))
}

// headerAt returns the header of a row of a grid.
func headerAt(r alloc.GridRow, c column) *header {
	// Safe because c is a buffer column of the row's chunk.
	return bufferAt(unsafe.Add(r.Base, uintptr(c.Offset)*r.Scale), r.Row, c.Size)
}

// spilled returns the block of a buffer that is not inline.
func (w *World) spilled(h *header) unsafe.Pointer {
	// Safe because ref was made by spillRef from a block of this universe.
	return unsafe.Add(w.base, uintptr(h.ref-1)*refUnit)
}

// elements returns where a buffer's elements are.
func (w *World) elements(h *header) unsafe.Pointer {
	if h.ref != 0 {
		return w.spilled(h)
	}
	// Safe because the room lies behind the header in the chunk, or ends where it does:
	// then it has no element, and nothing is read or written there.
	return unsafe.Add(unsafe.Pointer(h), headerSize)
}

func (w *World) spillRef(p unsafe.Pointer) uint32 {
	return uint32((uintptr(p)-uintptr(w.base))/refUnit) + 1
}

// inlineRoom returns the bytes behind a header that hold elements while the
// buffer is inline.
func inlineRoom(h *header, t *typeInfo) []byte {
	// Safe because the header is that of a row, which has room for inline elements.
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(h), headerSize)), t.inline*t.element)
}

// blocks is what a buffer's elements come from when they have spilled.
type blocks interface {
	Alloc(size, align int) (unsafe.Pointer, error)
	Resize(p unsafe.Pointer, size int) bool
	Free(p unsafe.Pointer)
	Usable(p unsafe.Pointer) int
}

// heap returns the owner's handle to the heap, and for a loan's copy of a type the heap,
// which is any goroutine's.
func (t *typeInfo) heap() blocks {
	if t.loan != nil {
		return t.w.heap
	}
	return t.w.local
}

// newSpill returns the header of an empty buffer with a block for want elements,
// or need when there is no memory for want: when the heap refuses, it tries again
// after the world has given its reserves back.
func (w *World) newSpill(t *typeInfo, want, need int) (header, error) {
	heap := t.heap()
	most := maxSpillBytes / t.element
	if need > most {
		return header{}, limit("bytes of a buffer", maxSpillBytes, nil)
	}
	want = min(want, most)
	p, err := heap.Alloc(want*t.element, 0)
	if err != nil && t.loan == nil && w.Trim() > 0 {
		p, err = heap.Alloc(want*t.element, 0)
	}
	if err != nil && want > need {
		p, err = heap.Alloc(need*t.element, 0)
	}
	if err != nil {
		return header{}, limit("", 0, err)
	}
	return header{ref: w.spillRef(p), capacity: uint32(heap.Usable(p) / t.element)}, nil
}

// replace puts a spilled header in the place of a buffer's and gives back what
// that one had. In debug builds the room that is left is poisoned either way.
func (w *World) replace(h *header, next header, t *typeInfo) {
	old := *h
	*h = next
	if old.ref != 0 {
		t.heap().Free(w.spilled(&old))
	}
	if debug.On && old.ref == 0 {
		debug.Poison(inlineRoom(h, t), debug.Freed)
	}
}

// trimSpill makes a spilled buffer's memory as small as its elements allow. When
// the system refuses the smaller block, the buffer keeps the one that it has.
func (w *World) trimSpill(h *header, t *typeInfo) {
	heap, p, n := t.heap(), w.spilled(h), int(h.length)*t.element
	if int(h.length) <= t.inline {
		// Safe because the block is live and holds n bytes of elements.
		copy(inlineRoom(h, t), unsafe.Slice((*byte)(p), n))
		heap.Free(p)
		*h = header{length: h.length}
		return
	}
	heap.Resize(p, n) // whole chunks go where they are: that needs no memory
	usable := heap.Usable(p)
	h.capacity = uint32(usable / t.element)
	if usable-n < refUnit {
		return // no block is nearer to n bytes
	}
	q, err := heap.Alloc(n, 0)
	if err != nil {
		return
	}
	room := heap.Usable(q)
	if room >= usable {
		heap.Free(q)
		return
	}
	// Safe because both blocks are live and n bytes long at least.
	copy(unsafe.Slice((*byte)(q), n), unsafe.Slice((*byte)(p), n))
	w.replace(h, header{ref: w.spillRef(q), length: h.length, capacity: uint32(room / t.element)}, t)
}

// freeSpill gives a buffer's block back when it has one.
func (w *World) freeSpill(h *header) {
	if h.ref != 0 {
		w.local.Free(w.spilled(h))
	}
}

// freeSpills frees what n rows of a buffer column have spilled; the headers are void
// then.
func (w *World) freeSpills(at alloc.GridRow, c column, n int) {
	for range n {
		w.freeSpill(headerAt(at, c))
		at.Row++
	}
}

// freeAllSpills frees what all buffers have spilled. What the heap still holds after
// it has leaked.
func (w *World) freeAllSpills() {
	if w.heap.Stats().LiveBlocks == 0 {
		return
	}
	for _, a := range w.archetypes {
		for _, c := range a.table.Buffers() {
			for pos := range a.table.Grid.Chunks() {
				w.freeSpills(a.table.Grid.Row(pos, 0), c, a.table.Grid.RowsOf(pos))
			}
		}
	}
}
