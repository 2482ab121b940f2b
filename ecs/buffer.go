package ecs

import (
	"fmt"
	"reflect"
	"unsafe"

	"quarry/alloc"
)

// Buffers. An entity's buffer is one element of a column: a header of 16 bytes
// and room for some elements. While they suffice, elements lie in the chunk;
// then all of them move to a block of the world's heap and the header says
// where, counted from the universe's base. So a header holds no address, and
// chunks can be moved, hashed and saved.
//
//	inline   | ref 0      | length | (unused) | 0 | e0 | e1 | ... | e(inline-1) |
//	spilled  | offset/16+1| length | capacity | 0 | (unused)                    |
//	           4 B          4 B      4 B       4 B
//
// An all-zero header is an empty buffer.

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

// Buffer is the handle of a buffer type: a growing array of T per entity.
//
// All methods belong to the world's owner: one goroutine at a time.
type Buffer[T any] struct {
	w  *World
	id typeID
}

// RegisterBuffer makes a buffer of T a type of w; see Register. Elements must
// have a size.
func RegisterBuffer[T any](w *World, options ...TypeOption) Buffer[T] {
	t := reflect.TypeFor[T]()
	if t.Size() == 0 {
		panic(fmt.Sprintf("ecs: RegisterBuffer[%s]: the element has no size", shortName(t)))
	}
	size := int(t.Size())
	info := typeInfo{rtype: t, name: "[]" + shortName(t), buffer: true,
		element: size, inline: inlineBytes / size, growth: alloc.Doubling()}
	for _, o := range options {
		o(&info)
	}
	if info.inline > maxSpillBytes/size {
		panic(&LimitError{Op: "RegisterBuffer[" + shortName(t) + "]", Limit: "bytes of a buffer", Max: maxSpillBytes})
	}
	info.align = max(t.Align(), int(unsafe.Alignof(header{})))
	info.size = (headerSize + info.inline*size + info.align - 1) &^ (info.align - 1)
	return Buffer[T]{w, w.register("RegisterBuffer", info)}
}

func (b Buffer[T]) handle() (*World, typeID) { return b.w, b.id }

// String returns the type's name: [] and the element's.
func (b Buffer[T]) String() string { return nameOf(b.w, b.id) }

// Has reports whether e is alive and has the buffer.
func (b Buffer[T]) Has(e Entity) bool {
	column, _ := b.w.column("Buffer.Has", e, b.id, false)
	return column != nil
}

// Get returns e's buffer to read, and false when e is not alive or has none.
// It is good until the next structural change.
func (b Buffer[T]) Get(e Entity) (DynamicBuffer[T], bool) {
	return b.of("Buffer.Get", e, false)
}

// Mut is Get for writing: it marks the buffer changed in e's chunk.
func (b Buffer[T]) Mut(e Entity) (DynamicBuffer[T], bool) {
	return b.of("Buffer.Mut", e, true)
}

func (b Buffer[T]) of(op string, e Entity, write bool) (DynamicBuffer[T], bool) {
	column, row := b.w.column(op, e, b.id, write)
	if column == nil {
		return DynamicBuffer[T]{}, false
	}
	return b.view(column, row, write), true
}

func (b Buffer[T]) view(column unsafe.Pointer, row int, write bool) DynamicBuffer[T] {
	info := &b.w.types[b.id]
	return DynamicBuffer[T]{w: b.w, h: bufferAt(column, row, uint32(info.size)), id: b.id, write: write, epoch: b.w.epoch}
}

// At returns the buffer of the i'th of rows, to write when the query declares
// Write. It panics like Component.Slice, when i is not in [0, rows.Len()), and where
// the chunk lacks an Optional buffer; see In.
func (b Buffer[T]) At(rows Rows, i int) DynamicBuffer[T] {
	column := rows.column(b.w, b.id, "Buffer.At")
	if uint(i) >= uint(rows.Len()) || column == nil {
		rows.noRow(b.w, b.id, i)
	}
	return b.view(column, rows.lo()+i, rows.s.access[b.id]&mayWrite != 0)
}

// Append adds elements to e's buffer. It returns false when e is not alive or
// has none, and panics with a *LimitError when there is no room.
func (b Buffer[T]) Append(e Entity, v ...T) bool {
	d, ok := b.of("Buffer.Append", e, true)
	if ok {
		d.Append(v...)
	}
	return ok
}

// Add gives e an empty buffer. It returns false when e has one already, and
// panics like Component.Add.
func (b Buffer[T]) Add(e Entity) bool {
	added, err := b.w.add("Buffer.Add", e, b.id)
	if err != nil {
		panic(during("Buffer.Add", err))
	}
	return added
}

// Remove takes the buffer and its elements from e. It returns false when e is
// not alive or has none, and panics like Component.Add.
func (b Buffer[T]) Remove(e Entity) bool {
	removed, err := b.w.remove("Buffer.Remove", e, b.id)
	if err != nil {
		panic(during("Buffer.Remove", err))
	}
	return removed
}

// bufferAt returns the header of a row of a buffer column.
func bufferAt(column unsafe.Pointer, row int, size uint32) *header {
	// Safe because row is one of the chunk's rows and every element of a buffer
	// column begins with a header.
	return (*header)(unsafe.Add(column, uintptr(row)*uintptr(size)))
}

// headerAt returns the header of a row of a buffer column.
func headerAt(r alloc.GridRow, c column) *header {
	// Safe because c is a buffer column of the row's chunk.
	return bufferAt(unsafe.Add(r.Base, uintptr(c.Offset)<<r.Order), r.Row, c.Size)
}

// spilled returns the block of a buffer that is not inline.
func (w *World) spilled(h *header) unsafe.Pointer {
	// Safe because ref was made by spillRef from a block of this universe.
	return unsafe.Add(w.base, uintptr(h.ref-1)*refUnit)
}

func (w *World) spillRef(p unsafe.Pointer) uint32 {
	return uint32((uintptr(p)-uintptr(w.base))/refUnit) + 1
}

// freeSpill gives a buffer's block back when it has one.
func (w *World) freeSpill(h *header) {
	if h.ref != 0 {
		w.local.Free(w.spilled(h))
	}
}
