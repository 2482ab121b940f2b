package ecs

import "unsafe"

// DynamicBuffer is the growing array that one entity has. It is a view: the
// elements belong to the entity, move with it and end with it. It is good until
// the next structural change of the world; one that is kept longer is caught
// when it is used. Several views of one buffer may be used in turn.
//
// Elements that are given as arguments may be those of the buffer itself, or of
// any other: what counts is what they held before the call.
//
// Every index and length is checked before anything changes. Methods allocate
// nothing on Go's heap.
type DynamicBuffer[T any] struct{ array }

// Slice returns the elements: to read, or to write when the buffer was opened for
// it. The slice is good until the buffer grows or is trimmed, or the world
// changes. It has no spare capacity: the append of Go copies it to Go's heap and
// leaves the buffer alone.
func (d DynamicBuffer[T]) Slice() []T {
	h := d.raw.header("DynamicBuffer.Slice")
	if h.Len() == 0 {
		return []T{} // a pointer behind the last header of a chunk would point outside
	}
	// Safe because length elements lie there.
	return unsafe.Slice((*T)(d.raw.f.spill.Elements(h)), h.Len())
}

// Append adds elements at the end. It panics with a *LimitError when there is
// no room; the buffer is as it was then. Room doubles when it grows, or follows
// the option Growth, as far as there is memory and the limit of 1 MiB allows.
func (d DynamicBuffer[T]) Append(v ...T) {
	if err := d.TryAppend(v...); err != nil {
		panic(err)
	}
}

// TryAppend is Append that returns the *LimitError.
func (d DynamicBuffer[T]) TryAppend(v ...T) error {
	return d.raw.append("DynamicBuffer.Append", unsafe.Pointer(unsafe.SliceData(v)), len(v)) // Safe because v has len(v) elements.
}

// Insert puts elements before element i, or at the end when i is Len(). It panics
// when i is not in [0, Len()], and like Append. Cost: it moves the elements from i
// on.
func (d DynamicBuffer[T]) Insert(i int, v ...T) {
	if err := d.TryInsert(i, v...); err != nil {
		panic(err)
	}
}

// TryInsert is Insert that returns the *LimitError.
func (d DynamicBuffer[T]) TryInsert(i int, v ...T) error {
	return d.raw.insert("DynamicBuffer.Insert", i, unsafe.Pointer(unsafe.SliceData(v)), len(v)) // Safe because v has len(v) elements.
}

// CopyFrom makes the buffer hold a copy of v and nothing else. It panics like
// Append; room stays when v is shorter.
func (d DynamicBuffer[T]) CopyFrom(v []T) {
	if err := d.TryCopyFrom(v); err != nil {
		panic(err)
	}
}

// TryCopyFrom is CopyFrom that returns the *LimitError.
func (d DynamicBuffer[T]) TryCopyFrom(v []T) error {
	return d.raw.copyFrom("DynamicBuffer.CopyFrom", unsafe.Pointer(unsafe.SliceData(v)), len(v)) // Safe because v has len(v) elements.
}
