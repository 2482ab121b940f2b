package ecs

import (
	"fmt"
	"maps"
	"reflect"
	"sync/atomic"
	"unsafe"

	"quarry/ecs/internal/world"
	"quarry/layout"
)

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
			d.raw.Finder.Type.Name, unsafe.Sizeof(t), world.ShortName(reflect.TypeFor[U]()), unsafe.Sizeof(u)))
	}
	// Alignment needs no check: a Go type's size is a multiple of its alignment, so
	// U's alignment divides T's size, hence also headerSize + inline*size, the place
	// of a row before rounding. Blocks of the heap begin on 16 bytes.
	checkFlat(reflect.TypeFor[U]())
	return DynamicBuffer[U](d)
}

func checkFlat(t reflect.Type) {
	known := flatTypes.Load()
	if known != nil && (*known)[t] {
		return
	}
	if err := layout.PointerFree(t); err != nil {
		panic(fmt.Sprintf("ecs: Reinterpret: %v; elements must hold no Go pointers, for they lie outside the garbage collector's heap", err))
	}
	more := map[reflect.Type]bool{t: true}
	if known != nil {
		maps.Copy(more, *known)
	}
	flatTypes.Store(&more) // a type added by another goroutine meanwhile is lost, and found again later
}
