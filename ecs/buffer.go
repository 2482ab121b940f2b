package ecs

import (
	"fmt"
	"reflect"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/value"
)

// Buffer is the handle of a buffer type: a growing array of T per entity, at first
// empty. Archetypes, changes and terms take it like a component; loops over rows
// reach an entity's array by At, all others by Mut, Get, Append and Slice.
//
// All methods belong to the world's owner: one goroutine at a time.
type Buffer[T any] struct{ handle }

// RegisterBuffer makes a buffer of T a type of w; see Register. Elements must
// have a size, 1 MiB at most.
func RegisterBuffer[T any](w *World, options ...TypeOption) Buffer[T] {
	t := reflect.TypeFor[T]()
	if t.Size() == 0 {
		panic(fmt.Sprintf("ecs: RegisterBuffer[%s]: the element has no size", shortName(t)))
	}
	size := int(t.Size())
	info := typeInfo{rtype: t, name: "[]" + shortName(t), buffer: true,
		finder: finder{shape: value.Shape{Element: size, Inline: value.InlineBytes / size, Growth: alloc.Doubling()}}}
	info.apply("RegisterBuffer", options)
	if info.shape.Inline > value.MaxBytes/size {
		panic(&LimitError{Op: "RegisterBuffer[" + shortName(t) + "]", Limit: "bytes of a buffer", Max: value.MaxBytes})
	}
	info.align = max(t.Align(), value.HeaderAlign)
	info.size = (value.HeaderSize + info.shape.Inline*size + info.align - 1) &^ (info.align - 1)
	return Buffer[T]{handle{w.register("RegisterBuffer", info)}}
}

// Get returns e's buffer to read, and false when e is not alive or has none.
// It is good until the next structural change.
func (b Buffer[T]) Get(e Entity) (DynamicBuffer[T], bool) {
	v, ok := b.t.open(opBufferGet, e, false)
	return DynamicBuffer[T]{array{v}}, ok
}

// Mut is Get for writing: it marks the buffer changed in e's chunk.
func (b Buffer[T]) Mut(e Entity) (DynamicBuffer[T], bool) {
	v, ok := b.t.open(opBufferMut, e, true)
	return DynamicBuffer[T]{array{v}}, ok
}

// Slice returns the elements of e's buffer to read: none when e is not alive or
// has no buffer. It is good like DynamicBuffer.Slice.
func (b Buffer[T]) Slice(e Entity) []T {
	v, ok := b.t.open(opBufferSlice, e, false)
	if !ok {
		return nil
	}
	return DynamicBuffer[T]{array{v}}.Slice()
}

// At returns the buffer of the i'th of rows, to write when the query declares
// Write. It panics like Component.Slice, when i is not in [0, rows.Len()), and where
// the chunk lacks an Optional buffer; see In.
func (b Buffer[T]) At(rows Rows, i int) DynamicBuffer[T] {
	return DynamicBuffer[T]{array{b.t.openAt(rows, i)}}
}

// Append adds elements to e's buffer. It returns false when e is not alive or has none,
// and panics with a *LimitError when there is no room: Mut and TryAppend return it. It
// marks the buffer changed in e's chunk, like Mut. No buffer's growth moves rows, so
// loops may append to the buffers of any entity.
func (b Buffer[T]) Append(e Entity, v ...T) bool {
	raw, ok := b.t.open(opBufferAppend, e, true)
	if ok {
		DynamicBuffer[T]{array{raw}}.Append(v...)
	}
	return ok
}

// Add gives e an empty buffer. It returns false when e has one already, and
// panics like Component.Add, a *LimitError included, which Change.Apply returns.
func (b Buffer[T]) Add(e Entity) bool {
	p := b.t.add("Buffer.Add", e)
	if p != nil {
		// Safe because an element of the column has that many bytes.
		clear(unsafe.Slice((*byte)(p), b.t.size))
	}
	return p != nil
}
