package alloc

import (
	"fmt"
	"unsafe"

	"quarry/internal/universe/memory"
	"quarry/layout"
)

// Typed values in blocks of an Allocator.

// noPointers is the end of the error for a type that holds Go pointers.
const noPointers = "; values must hold no Go pointers, for they lie outside the garbage collector's heap"

// sizeAlign returns the size and alignment of T in bytes.
func sizeAlign[T any]() (size, align int) {
	var t *T // not a T, which would be in the Go heap when it is large
	return int(unsafe.Sizeof(*t)), int(unsafe.Alignof(*t))
}

// New returns a pointer to a zero T in a block of a. An error is a *layout.PointerError when T
// holds Go pointers, which the collector would not see there and which would dangle; otherwise it
// is the error of a. Free the value with Free. Cost besides a's: a lookup among the types already
// checked, 2 ns.
func New[T any](a Allocator) (*T, error) {
	checkAllocator("New", a)
	if err := layout.PointerFreeFor[T](); err != nil {
		return nil, fmt.Errorf("alloc: New: %w%s", err, noPointers)
	}
	size, align := sizeAlign[T]()
	p, err := a.Alloc(size, align)
	if err != nil {
		return nil, err
	}
	// Safe because the block is as large as a T and aligned for it, and T has no pointers.
	v := (*T)(p)
	clear(unsafe.Slice(v, 1))
	return v, nil
}

// Free frees a value returned by New. A nil v does nothing.
func Free[T any](a Allocator, v *T) {
	checkAllocator("Free", a)
	size, align := sizeAlign[T]()
	// Safe because the pointer is only passed back to the allocator it came from.
	a.FreeSized(unsafe.Pointer(v), size, align)
}

// MakeSlice returns a slice of n zero values with capacity room in a block of a. Unlike with make,
// the memory between length and capacity is not cleared; Append does not clear it either. Errors
// are those of New, or wrap ErrTooBig when the size in bytes is too large. MakeSlice panics unless
// 0 <= n <= room. Free the slice with FreeSlice, and grow it with Append: the built-in append would
// move a full slice to the Go heap.
func MakeSlice[T any](a Allocator, n, room int) ([]T, error) {
	if n < 0 || room < n {
		panic(fmt.Sprintf("alloc: MakeSlice: n=%d room=%d: want 0 <= n <= room", n, room))
	}
	checkAllocator("MakeSlice", a)
	s, err := makeSlice[T](a, room)
	if err != nil {
		return nil, fmt.Errorf("alloc: MakeSlice: %d values: %w", room, err)
	}
	s = s[:n]
	zeroSlice(s)
	return s, nil
}

// makeSlice returns a slice of length and capacity room, whose values are not cleared.
func makeSlice[T any](a Allocator, room int) ([]T, error) {
	if err := layout.PointerFreeFor[T](); err != nil {
		return nil, fmt.Errorf("%w%s", err, noPointers)
	}
	size, align := sizeAlign[T]()
	if room == 0 {
		return nil, nil // FreeSlice knows that nil has no block
	}
	if size > 0 && room > memory.MaxSize/size {
		return nil, fmt.Errorf("%d bytes each: %w", size, ErrTooBig)
	}
	p, err := a.Alloc(room*size, align)
	if err != nil {
		return nil, err
	}
	// Safe because the block has room values of T and is aligned for it.
	return unsafe.Slice((*T)(p), room), nil
}

// zeroSlice clears a slice in steps, since one clear cannot be preempted.
func zeroSlice[T any](s []T) {
	if size, _ := sizeAlign[T](); len(s)*size > 0 {
		// Safe because these are the bytes of the slice.
		memory.Zero(unsafe.Pointer(unsafe.SliceData(s)), len(s)*size)
	}
}

// FreeSlice frees a slice made by MakeSlice or Append. The slice may have been shortened, but must
// keep its first value and its capacity. A slice of capacity 0 has no block, and FreeSlice does
// nothing.
func FreeSlice[T any](a Allocator, s []T) {
	if cap(s) == 0 {
		return
	}
	checkAllocator("FreeSlice", a)
	size, align := sizeAlign[T]()
	// Safe because the pointer is only passed back to the allocator it came from.
	a.FreeSized(unsafe.Pointer(unsafe.SliceData(s)), cap(s)*size, align)
}

// Append appends values to s, a slice made by MakeSlice or Append, or nil, and returns the result.
// A full slice grows in place when the allocator can; otherwise it moves to another block, of at
// least twice the capacity or, when that is refused, of the needed size. After success only the
// returned slice is valid. On an error, which is one of MakeSlice's, s is unchanged and is
// returned.
func Append[T any](a Allocator, s []T, values ...T) ([]T, error) {
	n := len(s) + len(values)
	if n <= cap(s) {
		return append(s, values...), nil
	}
	checkAllocator("Append", a)
	room := Doubling().Next(cap(s), n)
	if !extend(a, &s, room) && (room == n || !extend(a, &s, n)) {
		grown, err := makeSlice[T](a, room)
		if err != nil && room > n {
			grown, err = makeSlice[T](a, n)
		}
		if err != nil {
			return s, fmt.Errorf("alloc: Append: %d values: %w", n, err)
		}
		copySlice(grown, s)
		grown = append(grown[:len(s)], values...) // values may lie in s
		FreeSlice(a, s)
		return grown, nil
	}
	return append(s, values...), nil
}

// extend grows the capacity of a slice in place and reports whether it could.
func extend[T any](a Allocator, s *[]T, room int) bool {
	size, align := sizeAlign[T]()
	if cap(*s) == 0 || size == 0 || room > memory.MaxSize/size {
		return false
	}
	// Safe because s is a live block of a, which grows it in place.
	p := unsafe.Pointer(unsafe.SliceData(*s))
	if !a.ResizeSized(p, cap(*s)*size, align, room*size) {
		return false
	}
	// Safe because the block has room values now.
	*s = unsafe.Slice((*T)(p), room)[:len(*s)]
	return true
}

// copySlice copies in steps, since one copy cannot be preempted.
func copySlice[T any](to, from []T) {
	if size, _ := sizeAlign[T](); len(from)*size > 0 {
		// Safe because to has at least the bytes of from.
		memory.Move(unsafe.Pointer(unsafe.SliceData(to)), unsafe.Pointer(unsafe.SliceData(from)), len(from)*size)
	}
}
