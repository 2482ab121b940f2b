package ecs

import (
	"fmt"
	"reflect"
	"unsafe"

	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/world"
	"quarry/layout"
)

// Buffer is the handle of a buffer type: a growing array of T per entity, initially empty.
// Archetypes, changes and terms take a Buffer like a component. Loops over rows reach an entity's
// array by At; other code uses Mut, Get, Append and Slice.
//
// All methods belong to the world's owner: one goroutine at a time.
type Buffer[T any] struct{ enableHandle }

// RegisterBuffer registers a buffer of T as a type of w; see Register. T must have a size, of at
// most 1 MiB. A buffer holds up to 2^32 - 1 elements, and as many bytes as the world's universe has
// room for in a row. A universe has at most 16 GiB (alloc.MaxSize), so no buffer has more.
func RegisterBuffer[T any](w *World, options ...TypeOption) Buffer[T] {
	t := reflect.TypeFor[T]()
	if t.Size() == 0 {
		panic(fmt.Sprintf("ecs: RegisterBuffer[%s]: the element has no size", world.ShortName(t)))
	}
	info := world.BufferOf(t)
	applyOptions(info, "RegisterBuffer", options)
	// No chunk has so many, and the size of a row might overflow.
	if most := layout.MaxChunkSize; info.Shape.Inline > most/info.Shape.Element {
		panic(&LimitError{
			Op: "RegisterBuffer[" + world.ShortName(t) + "]", Limit: "bytes of inline elements", Max: most,
		})
	}
	info.PlaceInline()
	return Buffer[T]{enableHandle{handle{w.inner().Register("RegisterBuffer", info)}}}
}

// Get returns e's buffer for reading, and false if e is not alive or has no buffer. The view is
// valid until the next structural change.
func (b Buffer[T]) Get(e Entity) (DynamicBuffer[T], bool) {
	v, ok := b.t.Open(world.OpBufferGet, entity.ID(e), false)
	return DynamicBuffer[T]{array{v}}, ok
}

// Mut is Get for writing: it also marks the buffer changed in e's chunk.
func (b Buffer[T]) Mut(e Entity) (DynamicBuffer[T], bool) {
	v, ok := b.t.Open(world.OpBufferMut, entity.ID(e), true)
	return DynamicBuffer[T]{array{v}}, ok
}

// Slice returns the elements of e's buffer for reading, or nil if e is not alive or has no buffer.
// It is valid as long as a slice from DynamicBuffer.Slice.
func (b Buffer[T]) Slice(e Entity) []T {
	v, ok := b.t.Open(world.OpBufferSlice, entity.ID(e), false)
	if !ok {
		return nil
	}
	return DynamicBuffer[T]{array{v}}.Slice()
}

// At returns the buffer of the i'th row of rows, for writing if the query declares Write. It panics
// like Component.Slice, if i is not in [0, rows.Len()), and if the chunk lacks an Optional buffer;
// see In.
func (b Buffer[T]) At(rows Rows, i int) DynamicBuffer[T] {
	return DynamicBuffer[T]{array{query.OpenAt(b.t, rows.core, i)}}
}

// Append appends elements to e's buffer and marks the buffer changed in e's chunk, like Mut. It
// returns false if e is not alive or has no buffer. It panics with a *LimitError if there is no
// room; see Try. A growing buffer never moves rows, so
// loops may append to the buffers of any entity.
func (b Buffer[T]) Append(e Entity, v ...T) bool {
	raw, ok := b.t.Open(world.OpBufferAppend, entity.ID(e), true)
	if ok {
		DynamicBuffer[T]{array{raw}}.Append(v...)
	}
	return ok
}

// Add gives e an empty buffer. It returns false if e already has one, and panics like
// Component.Add, also with a *LimitError. To get the error instead, use Change.Apply.
func (b Buffer[T]) Add(e Entity) bool {
	p := edit.Add(b.t, "Buffer.Add", entity.ID(e))
	if p != nil {
		// Safe because an element of the column has that many bytes.
		clear(unsafe.Slice((*byte)(p), b.t.Size))
	}
	return p != nil
}
