package ecs

import (
	"reflect"
	"unsafe"

	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
	"quarry/internal/store"
)

// Buffers of a bundle: slices in the bundle's struct are copied to and from the elements of
// buffers.

// elementsIn returns the slice of a bundle's field, or nil if it is absent.
func (f *field) elementsIn(s unsafe.Pointer) *sliceHeader {
	return (*sliceHeader)(f.valueIn(s)) // Safe because the field, or what it points to, is a slice.
}

// bufferIn returns the field's buffer in a row of an archetype that has it.
func (f *field) bufferIn(a *Archetype, at store.Row) world.RawBuffer {
	// Safe because every element of a buffer column begins with a header.
	h := (*value.Header)(at.Element(a.core.Table.Places[f.t.ID].Offset, uint32(f.t.Size)))
	return world.RawBuffer{Lookup: &f.t.Lookup, Head: h, Epoch: a.core.World.Writer.Epoch, Write: true}
}

// makeRoom grows the buffers of a row to hold the slices that a struct has for them. On an error
// the buffers keep their contents. A slice never aliases a buffer that grows, because it would fit
// there already.
func makeRoom(op string, s unsafe.Pointer, fields []field, a *Archetype, at store.Row) error {
	for i := range fields {
		f := &fields[i]
		from := f.elementsIn(s)
		if from == nil {
			continue
		}
		b := f.bufferIn(a, at)
		if from.len <= f.t.Shape.Cap(b.Head) {
			continue
		}
		if err := b.Grow(op, b.Head, from.len, nil); err != nil {
			return err
		}
	}
	return nil
}

// writeElements copies the slices that a struct has into the buffers of a row, which have room for
// them.
func writeElements(s unsafe.Pointer, fields []field, a *Archetype, at store.Row) {
	for i := range fields {
		f := &fields[i]
		if from := f.elementsIn(s); from != nil {
			b := f.bufferIn(a, at)
			value.Move(f.t.Spill.Bytes(b.Head, &f.t.Shape, 0, from.len), b.Source(from.data, from.len))
			b.Head.SetLen(from.len)
		}
	}
}

// readElements fills the slices of a zero struct with copies of a row's buffers.
func readElements(s unsafe.Pointer, fields []field, a *Archetype, at store.Row) {
	for i := range fields {
		f := &fields[i]
		if _, ok := f.placeIn(a); !ok {
			continue
		}
		b := f.bufferIn(a, at)
		n := b.Head.Len()
		from := sliceHeader{len: n, cap: n}
		if n > 0 {
			// Safe because the buffer has n elements.
			from.data = unsafe.Pointer(unsafe.SliceData(f.t.Spill.Bytes(b.Head, &f.t.Shape, 0, n)))
		}
		f.store(s, from)
	}
}

// copyElements replaces the slices of a struct by copies in Go memory.
func copyElements(s unsafe.Pointer, fields []field) {
	for i := range fields {
		f := &fields[i]
		if from := f.elementsIn(s); from != nil {
			f.store(s, *from)
		}
	}
}

// store sets a struct's slice to a copy of from, or an optional one to a pointer to a copy.
func (f *field) store(s unsafe.Pointer, from sliceHeader) {
	to := f.in(s)
	if f.optional {
		fresh := unsafe.Pointer(new(sliceHeader))
		*(*unsafe.Pointer)(to) = fresh // Safe because an optional field is a pointer to a slice.
		to = fresh
	}
	*(*sliceHeader)(to) = f.copyOf(from) // Safe because to is where a slice is.
}

// copyOf returns a copy in Go memory of a slice of the field's elements, or nil for an empty slice.
func (f *field) copyOf(from sliceHeader) sliceHeader {
	n := from.len
	if n == 0 {
		return sliceHeader{}
	}
	fresh := sliceHeader{reflect.MakeSlice(reflect.SliceOf(f.t.Go), n, n).UnsafePointer(), n, n}
	bytes := n * f.t.Shape.Element
	// Safe because both have n elements, which have no pointers.
	value.Move(unsafe.Slice((*byte)(fresh.data), bytes), unsafe.Slice((*byte)(from.data), bytes))
	return fresh
}
