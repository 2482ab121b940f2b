package ecs

import "unsafe"

// DynamicBuffer is a view of the growing array of one entity. The elements belong to the entity,
// move with it and end with it. The view is valid until the next structural change of the world; a
// later use panics. Several views of one buffer may be used in turn.
//
// Elements passed as arguments may alias the buffer itself or any other buffer: methods use the
// values that they had before the call.
//
// Every index and length is checked before anything changes. Methods allocate nothing on Go's heap.
type DynamicBuffer[T any] struct{ array }

// Slice returns the elements, for reading, or for writing if the buffer was opened for writing. The
// slice is valid until the buffer grows or is trimmed, or until the next structural change. It has
// no spare capacity: Go's append copies it to Go's heap and leaves the buffer unchanged.
func (d DynamicBuffer[T]) Slice() []T {
	h := d.raw.Header("DynamicBuffer.Slice")
	if h.Len() == 0 {
		return []T{} // a pointer past the last header of a chunk would point outside the chunk
	}
	// Safe because h.Len() elements lie there.
	return unsafe.Slice((*T)(d.raw.Finder.Spill.Elements(h)), h.Len())
}

// Append appends elements. It panics with a *LimitError if there is no room; the buffer is then
// unchanged. A growing buffer doubles its capacity, or follows the option Growth, as far as memory
// allows. Above 1 MiB it grows in place while the memory behind it is free.
func (d DynamicBuffer[T]) Append(v ...T) {
	if err := d.TryAppend(v...); err != nil {
		panic(err)
	}
}

// TryAppend is like Append but returns the *LimitError.
func (d DynamicBuffer[T]) TryAppend(v ...T) error {
	return d.raw.Append("DynamicBuffer.Append", unsafe.Pointer(unsafe.SliceData(v)), len(v)) // Safe because v has len(v) elements.
}

// Insert inserts elements before element i, or at the end if i is Len(). It panics if i is not in
// [0, Len()], and like Append. Cost: it moves the elements from i on.
func (d DynamicBuffer[T]) Insert(i int, v ...T) {
	if err := d.TryInsert(i, v...); err != nil {
		panic(err)
	}
}

// TryInsert is like Insert but returns the *LimitError.
func (d DynamicBuffer[T]) TryInsert(i int, v ...T) error {
	return d.raw.Insert("DynamicBuffer.Insert", i, unsafe.Pointer(unsafe.SliceData(v)), len(v)) // Safe because v has len(v) elements.
}

// CopyFrom replaces the contents of the buffer with a copy of v. It panics like Append. The
// capacity stays if v is shorter.
func (d DynamicBuffer[T]) CopyFrom(v []T) {
	if err := d.TryCopyFrom(v); err != nil {
		panic(err)
	}
}

// TryCopyFrom is like CopyFrom but returns the *LimitError.
func (d DynamicBuffer[T]) TryCopyFrom(v []T) error {
	return d.raw.CopyFrom("DynamicBuffer.CopyFrom", unsafe.Pointer(unsafe.SliceData(v)), len(v)) // Safe because v has len(v) elements.
}
