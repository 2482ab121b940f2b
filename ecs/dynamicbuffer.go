package ecs

import (
	"fmt"
	"maps"
	"reflect"
	"sync/atomic"
	"unsafe"

	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
	"quarry/internal/debug"
	"quarry/layout"
)

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
	return unsafe.Slice((*T)(d.raw.Lookup.Spill.Elements(h)), h.Len())
}

// Append appends elements. It panics with a *LimitError if there is no room; the buffer is then
// unchanged. A growing buffer doubles its capacity, or follows the option Growth, as far as memory
// allows. Above 1 MiB it grows in place while the memory behind it is free.
func (d DynamicBuffer[T]) Append(v ...T) {
	// Safe because v has len(v) elements.
	panicOn(d.raw.Append("DynamicBuffer.Append", unsafe.Pointer(unsafe.SliceData(v)), len(v)))
}

// Insert inserts elements before element i, or at the end if i is Len(). It panics if i is not in
// [0, Len()], and like Append. Cost: it moves the elements from i on.
func (d DynamicBuffer[T]) Insert(i int, v ...T) {
	// Safe because v has len(v) elements.
	panicOn(d.raw.Insert("DynamicBuffer.Insert", i, unsafe.Pointer(unsafe.SliceData(v)), len(v)))
}

// CopyFrom replaces the contents of the buffer with a copy of v. It panics like Append. The
// capacity stays if v is shorter.
func (d DynamicBuffer[T]) CopyFrom(v []T) {
	// Safe because v has len(v) elements.
	panicOn(d.raw.CopyFrom("DynamicBuffer.CopyFrom", unsafe.Pointer(unsafe.SliceData(v)), len(v)))
}

// array has the methods of DynamicBuffer that do not depend on T, so they are compiled once. Every
// T gets a wrapper for each method of an embedded type, so array has only exported methods; the
// others belong to RawBuffer.
type array struct{ raw world.RawBuffer }

// Len returns the number of elements.
func (a array) Len() int { return a.raw.Header("DynamicBuffer.Len").Len() }

// Cap returns the number of elements that fit without growing: at least those that fit inside the
// chunk.
func (a array) Cap() int {
	h := a.raw.Header("DynamicBuffer.Cap")
	return a.raw.Lookup.Shape.Cap(h)
}

// RemoveAt removes element i and keeps the order of the others. It panics if i is not in [0,
// Len()). Cost: it moves the elements behind i; SwapRemove moves only one.
func (a array) RemoveAt(i int) {
	h := a.raw.Element("DynamicBuffer.RemoveAt", i)
	a.raw.Lookup.Spill.Cut(h, &a.raw.Lookup.Shape, i, i+1)
}

// RemoveRange removes elements [lo, hi) and keeps the order of the others. It panics unless 0 <= lo
// <= hi <= Len().
func (a array) RemoveRange(lo, hi int) {
	h := a.raw.Span("DynamicBuffer.RemoveRange", lo, hi)
	a.raw.Lookup.Spill.Cut(h, &a.raw.Lookup.Shape, lo, hi)
}

// SwapRemove removes element i and puts the last element in its place. It panics if i is not in [0,
// Len()).
func (a array) SwapRemove(i int) {
	h := a.raw.Element("DynamicBuffer.SwapRemove", i)
	a.raw.Lookup.Spill.SwapCut(h, &a.raw.Lookup.Shape, i, i+1)
}

// SwapRemoveRange removes elements [lo, hi) and fills the gap with the last elements, in their
// order. It panics unless 0 <= lo <= hi <= Len(). Cost: it moves hi-lo elements at most.
func (a array) SwapRemoveRange(lo, hi int) {
	h := a.raw.Span("DynamicBuffer.SwapRemoveRange", lo, hi)
	a.raw.Lookup.Spill.SwapCut(h, &a.raw.Lookup.Shape, lo, hi)
}

// Clear removes all elements and keeps the capacity.
func (a array) Clear() { a.raw.Writable("DynamicBuffer.Clear").SetLen(0) }

// Reserve ensures room for n elements in total, so that the buffer does not grow until it holds
// more. The capacity becomes n plus what the heap block has beyond that; the Growth policy applies
// only to buffers that grow by themselves. Reserve never shrinks the buffer. It panics if n is
// negative, and like Append.
func (a array) Reserve(n int) {
	h := a.raw.Writable("DynamicBuffer.Reserve")
	world.CheckLength("DynamicBuffer.Reserve", n)
	k := &a.raw.Lookup.Shape
	if n <= k.Cap(h) {
		return
	}
	panicOn(world.WithOp("DynamicBuffer.Reserve",
		world.LimitErrorOf(a.raw.Lookup.Spill.Rebuild(h, k, n, n, h.Len(), h.Len(), nil))))
}

// Resize sets the length of the buffer to n. Elements beyond n are removed; new elements are zero.
// It panics if n is negative, and like Append.
func (a array) Resize(n int) {
	fresh, err := a.raw.Resize("DynamicBuffer.Resize", n)
	value.Clear(fresh)
	panicOn(err)
}

// ResizeUninitialized is like Resize but does not clear new elements, for callers that write all of
// them. New elements hold whatever the memory held before; debug builds fill them with a pattern.
func (a array) ResizeUninitialized(n int) {
	fresh, err := a.raw.Resize("DynamicBuffer.ResizeUninitialized", n)
	if debug.On {
		debug.Poison(fresh, debug.Fresh)
	}
	panicOn(err)
}

// Trim releases capacity that the elements do not need. Elements that fit move back into the chunk;
// otherwise they move to the smallest block that holds them, if it is smaller than their current
// block. Trim never fails: if the system has no memory for the move, the elements stay where they
// are.
func (a array) Trim() {
	h := a.raw.Writable("DynamicBuffer.Trim")
	a.raw.Lookup.Spill.Trim(h, &a.raw.Lookup.Shape)
}

// flatTypes holds the types in which Reinterpret has found no Go pointers, so that it walks each
// type once and later allocates nothing. The map is replaced, never changed, because worlds of
// several goroutines share it.
var flatTypes atomic.Pointer[map[reflect.Type]bool]

// Reinterpret views a buffer's elements as another type of the same size. The bits stay as they
// are, so the bits of every T in the buffer must be meaningful as a U, and the bits of every U
// written must be meaningful as a T. The new view reads or writes as the given view does, and is
// valid as long. Reinterpret panics if the sizes differ, with both sizes, and if U holds a Go
// pointer, with the path to it.
//
//	words := ecs.Reinterpret[uint32](colours)
func Reinterpret[U, T any](d DynamicBuffer[T]) DynamicBuffer[U] {
	d.raw.Header("Reinterpret")
	var u U
	var t T
	if unsafe.Sizeof(u) != unsafe.Sizeof(t) {
		panic(fmt.Sprintf("ecs: Reinterpret: an element of %s has %d bytes, %s has %d: sizes must be equal",
			d.raw.Lookup.Type.Name, unsafe.Sizeof(t), world.ShortName(reflect.TypeFor[U]()), unsafe.Sizeof(u)))
	}
	// Alignment needs no check: a Go type's size is a multiple of its alignment, so U's alignment
	// divides T's size, hence also value.HeaderSize + inline*size, the place of a row before
	// rounding. Blocks of the heap begin on 16 bytes.
	checkFlat(reflect.TypeFor[U]())
	return DynamicBuffer[U](d)
}

func checkFlat(t reflect.Type) {
	known := flatTypes.Load()
	if known != nil && (*known)[t] {
		return
	}
	if err := layout.PointerFree(t); err != nil {
		panic(
			fmt.Sprintf("ecs: Reinterpret: %v; elements must hold no Go pointers, for they lie outside the garbage collector's heap",
				err))
	}
	more := map[reflect.Type]bool{t: true}
	if known != nil {
		maps.Copy(more, *known)
	}
	flatTypes.Store(&more) // a type added by another goroutine meanwhile is lost, and found again later
}
