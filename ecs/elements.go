package ecs

import (
	"reflect"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/value"
)

// Buffers of a bundle: slices in the bundle's struct are copied to and from the elements of
// buffers.

// elementsIn returns the slice of a bundle's field, nil where it is absent.
func (f *field) elementsIn(s unsafe.Pointer) *sliceHeader {
	return (*sliceHeader)(f.valueIn(s)) // Safe because the field, or what it points to, is a slice.
}

// bufferIn returns the field's buffer of a row, of an archetype that has it.
func (f *field) bufferIn(a *Archetype, at alloc.StoreRow) rawBuffer {
	// Safe because every element of a buffer column begins with a header.
	h := (*value.Header)(at.Element(a.table.Places[f.t.id].Offset, uint32(f.t.size)))
	return rawBuffer{&f.t.finder, h, a.w.rows.Epoch, true}
}

// makeRoom lets each buffer of a row grow to hold the slice that a struct has for it. On an error
// they hold what they held. No slice is one of a buffer that grows, for it would fit there.
func makeRoom(op string, s unsafe.Pointer, fields []field, a *Archetype, at alloc.StoreRow) error {
	for i := range fields {
		f := &fields[i]
		from := f.elementsIn(s)
		if from == nil {
			continue
		}
		b := f.bufferIn(a, at)
		if from.len <= f.t.shape.Cap(b.h) {
			continue
		}
		if err := b.grow(op, b.h, from.len, nil); err != nil {
			return err
		}
	}
	return nil
}

// writeElements copies the slices of a struct, those that are there, into the buffers of a row that
// have room for them.
func writeElements(s unsafe.Pointer, fields []field, a *Archetype, at alloc.StoreRow) {
	for i := range fields {
		f := &fields[i]
		if from := f.elementsIn(s); from != nil {
			b := f.bufferIn(a, at)
			copy(f.t.spill.Bytes(b.h, &f.t.shape, 0, from.len), b.source(from.data, from.len))
			b.h.SetLen(from.len)
		}
	}
}

// readElements fills the slices of a zero struct with copies of a row's buffers.
func readElements(s unsafe.Pointer, fields []field, a *Archetype, at alloc.StoreRow) {
	for i := range fields {
		f := &fields[i]
		if _, ok := f.placeIn(a); !ok {
			continue
		}
		b := f.bufferIn(a, at)
		n := b.h.Len()
		from := sliceHeader{len: n, cap: n}
		if n > 0 {
			from.data = unsafe.Pointer(unsafe.SliceData(f.t.spill.Bytes(b.h, &f.t.shape, 0, n))) // Safe because the buffer has n elements.
		}
		f.store(s, from)
	}
}

// copyElements puts copies in Go memory in the place of a struct's slices.
func copyElements(s unsafe.Pointer, fields []field) {
	for i := range fields {
		f := &fields[i]
		if from := f.elementsIn(s); from != nil {
			f.store(s, *from)
		}
	}
}

// store sets the slice of a struct to a copy, or when it is optional a pointer to one.
func (f *field) store(s unsafe.Pointer, from sliceHeader) {
	to := f.in(s)
	if f.optional {
		fresh := unsafe.Pointer(new(sliceHeader))
		*(*unsafe.Pointer)(to) = fresh // Safe because an optional field is a pointer to a slice.
		to = fresh
	}
	*(*sliceHeader)(to) = f.copyOf(from) // Safe because to is where a slice is.
}

// copyOf returns a copy in Go memory of a slice of the field's elements, nil of an empty one.
func (f *field) copyOf(from sliceHeader) sliceHeader {
	n := from.len
	if n == 0 {
		return sliceHeader{}
	}
	fresh := sliceHeader{reflect.MakeSlice(reflect.SliceOf(f.t.rtype), n, n).UnsafePointer(), n, n}
	bytes := n * f.t.shape.Element
	copy(unsafe.Slice((*byte)(fresh.data), bytes), unsafe.Slice((*byte)(from.data), bytes)) // Safe because both have n elements, which have no pointers.
	return fresh
}
