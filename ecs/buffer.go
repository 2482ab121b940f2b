package ecs

import (
	"fmt"
	"reflect"
	"unsafe"

	"quarry/alloc"
)

// Buffer is the handle of a buffer type: a growing array of T per entity, at first
// empty. Archetypes, changes and terms take it like a component; loops over rows
// reach an entity's array by At, all others by Mut, Get, Append and Slice.
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

// Slice returns the elements of e's buffer to read: none when e is not alive or
// has no buffer. It is good like DynamicBuffer.Slice.
func (b Buffer[T]) Slice(e Entity) []T {
	d, ok := b.of("Buffer.Slice", e, false)
	if !ok {
		return nil
	}
	return d.Slice()
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
	return b.view(column, rows.s.first+i, rows.s.t.columnOf(b.id).flags()&mayWrite != 0)
}

// Append adds elements to e's buffer. It returns false when e is not alive or
// has none, and panics with a *LimitError when there is no room. It marks the
// buffer changed in e's chunk, like Mut. No buffer's growth moves rows, so loops may
// append to the buffers of any entity.
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
	p := b.w.add("Buffer.Add", e, b.id)
	if p != nil {
		// Safe because an element of the column has that many bytes.
		clear(unsafe.Slice((*byte)(p), b.w.types[b.id].size))
	}
	return p != nil
}

// Remove takes the buffer and its elements from e. It returns false when e is
// not alive or has none, and panics like Component.Add.
func (b Buffer[T]) Remove(e Entity) bool {
	return b.w.remove("Buffer.Remove", e, b.id)
}
