package alloc

import (
	"fmt"
	"unsafe"

	"quarry/layout"
)

// Typed values in blocks of an Allocator.

// noPointers is the rule that a type has broken.
const noPointers = "; values must hold no Go pointers, for they lie outside the garbage collector's heap"

// sizeAlign returns size and alignment of T in bytes.
func sizeAlign[T any]() (size, align int) {
	var t *T // not a T, which would be of the Go heap when it is large
	return int(unsafe.Sizeof(*t)), int(unsafe.Alignof(*t))
}

// New returns a zero T in a block of a. An error is a *layout.PointerError when T holds
// Go pointers, which are not seen there and would dangle, else that of a. Give it back
// with Free. Cost beside that of a: a look at the types checked before, 2 ns.
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

// Free gives back what New returned. Nil does nothing.
func Free[T any](a Allocator, v *T) {
	checkAllocator("Free", a)
	size, align := sizeAlign[T]()
	// Safe because the pointer is only handed back to where it came from.
	a.FreeSized(unsafe.Pointer(v), size, align)
}

// MakeSlice returns a slice of n zero values with room for room in a block of a; the
// room behind them is not cleared, unlike that of make, nor is that of Append.
// Errors are those of New, or wrap ErrTooBig when the bytes are more than an int can
// count. It panics unless 0 <= n <= room. Give it back with FreeSlice; append would
// move it to the Go heap when it is full, Append does not.
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

// makeSlice returns a slice of that length and capacity, whose values are not cleared.
func makeSlice[T any](a Allocator, room int) ([]T, error) {
	if err := layout.PointerFreeFor[T](); err != nil {
		return nil, fmt.Errorf("%w%s", err, noPointers)
	}
	size, align := sizeAlign[T]()
	if room == 0 {
		return nil, nil // which FreeSlice knows has no block
	}
	if size > 0 && room > maxMapping/size {
		return nil, fmt.Errorf("%d bytes each: %w", size, ErrTooBig)
	}
	p, err := a.Alloc(room*size, align)
	if err != nil {
		return nil, err
	}
	// Safe because the block has room values of T and is aligned for it.
	return unsafe.Slice((*T)(p), room), nil
}

// zeroSlice clears a slice in steps, since a clear cannot be preempted.
func zeroSlice[T any](s []T) {
	if size, _ := sizeAlign[T](); len(s)*size > 0 {
		// Safe because those are the bytes of the slice.
		zero(unsafe.Pointer(unsafe.SliceData(s)), len(s)*size)
	}
}

// FreeSlice gives back a slice of MakeSlice or Append: as long or shorter, but with its
// first value and its capacity. One without capacity has no block.
func FreeSlice[T any](a Allocator, s []T) {
	if cap(s) == 0 {
		return
	}
	checkAllocator("FreeSlice", a)
	size, align := sizeAlign[T]()
	// Safe because the pointer is only handed back to where it came from.
	a.FreeSized(unsafe.Pointer(unsafe.SliceData(s)), cap(s)*size, align)
}

// Append is append for slices of MakeSlice, or nil: values are added to s, which grows
// where it stands when the allocator can, else by moving to another block: to twice its
// capacity at least or, where that is refused, to what is needed. After that s is the slice
// returned and no other. On an error, one of MakeSlice's, s is as it was.
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
		grown = append(grown[:len(s)], values...) // which may be values of s
		FreeSlice(a, s)
		return grown, nil
	}
	return append(s, values...), nil
}

// extend makes the room behind a slice larger where it stands, and reports whether it could.
func extend[T any](a Allocator, s *[]T, room int) bool {
	size, align := sizeAlign[T]()
	if cap(*s) == 0 || size == 0 || room > maxMapping/size {
		return false
	}
	// Safe because s is a live block of a, which makes it longer where it stands.
	p := unsafe.Pointer(unsafe.SliceData(*s))
	if !a.ResizeSized(p, cap(*s)*size, align, room*size) {
		return false
	}
	// Safe because the block has room values now.
	*s = unsafe.Slice((*T)(p), room)[:len(*s)]
	return true
}

// copySlice copies in steps, since a copy cannot be preempted.
func copySlice[T any](to, from []T) {
	if size, _ := sizeAlign[T](); len(from)*size > 0 {
		// Safe because to has at least the bytes of from.
		move(unsafe.Pointer(unsafe.SliceData(to)), unsafe.Pointer(unsafe.SliceData(from)), len(from)*size)
	}
}
