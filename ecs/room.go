package ecs

import (
	"fmt"
	"unsafe"

	"quarry/internal/debug"
)

// The room of a DynamicBuffer: where its elements lie, how many fit, and what
// makes it larger and smaller. Each method reads the header anew, so several views
// of one buffer may be used in turn.

// Len returns the number of elements.
func (d DynamicBuffer[T]) Len() int { return int(d.header("DynamicBuffer.Len").length) }

// Cap returns the number of elements that there is room for without growing, at
// least those that fit inside the chunk.
func (d DynamicBuffer[T]) Cap() int { return d.capacity(d.header("DynamicBuffer.Cap")) }

func (d DynamicBuffer[T]) capacity(h *header) int {
	if h.ref == 0 {
		return d.w.types[d.id].inline
	}
	return int(h.capacity)
}

// Slice returns the elements: to read, or to write when the buffer was opened for
// it. The slice is good until the buffer grows or is trimmed, or the world
// changes. It has no spare capacity: the append of Go copies it to Go's heap and
// leaves the buffer alone.
func (d DynamicBuffer[T]) Slice() []T {
	h := d.header("DynamicBuffer.Slice")
	return d.elements(h)[:h.length:h.length]
}

// elements returns the whole room of the buffer.
func (d DynamicBuffer[T]) elements(h *header) []T {
	if h.ref != 0 {
		// Safe because a spilled buffer has a block for capacity elements.
		return unsafe.Slice((*T)(d.w.spilled(h)), h.capacity)
	}
	inline := d.w.types[d.id].inline
	if inline == 0 {
		return nil // a pointer behind the last header of a chunk would point outside
	}
	// Safe because the header is followed by room for inline elements; headerSize
	// is a multiple of every alignment.
	return unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(h), headerSize)), inline)
}

// Reserve makes room for n elements in all, so that the buffer does not grow until
// it has more. The room is for n and what the heap gives beyond that: Growth is for
// buffers that grow by themselves. Room is never taken away. It panics when n is
// negative, and like Append.
func (d DynamicBuffer[T]) Reserve(n int) {
	if err := d.TryReserve(n); err != nil {
		panic(err)
	}
}

// TryReserve is Reserve that returns the *LimitError.
func (d DynamicBuffer[T]) TryReserve(n int) error {
	h := d.writable("DynamicBuffer.Reserve")
	checkLength("DynamicBuffer.Reserve", n)
	if n <= d.capacity(h) {
		return nil
	}
	return d.rebuild("DynamicBuffer.Reserve", h, n, n, int(h.length), int(h.length), nil)
}

// Resize makes the buffer n elements long: those beyond go, new ones are zero. It
// panics when n is negative, and like Append.
func (d DynamicBuffer[T]) Resize(n int) {
	if err := d.TryResize(n); err != nil {
		panic(err)
	}
}

// TryResize is Resize that returns the *LimitError.
func (d DynamicBuffer[T]) TryResize(n int) error {
	fresh, err := d.resize("DynamicBuffer.Resize", n)
	clear(fresh)
	return err
}

// ResizeUnset is Resize that does not clear new elements: they are whatever was
// there before, for a caller that writes them all. Debug builds fill them with a
// pattern.
func (d DynamicBuffer[T]) ResizeUnset(n int) {
	if err := d.TryResizeUnset(n); err != nil {
		panic(err)
	}
}

// TryResizeUnset is ResizeUnset that returns the *LimitError.
func (d DynamicBuffer[T]) TryResizeUnset(n int) error {
	fresh, err := d.resize("DynamicBuffer.ResizeUnset", n)
	if debug.On && len(fresh) > 0 {
		var t T
		// Safe because the elements are contiguous and have that size.
		debug.Poison(unsafe.Slice((*byte)(unsafe.Pointer(&fresh[0])), len(fresh)*int(unsafe.Sizeof(t))), debug.Fresh)
	}
	return err
}

// resize sets the length and returns the new elements.
func (d DynamicBuffer[T]) resize(op string, n int) (fresh []T, err error) {
	h := d.writable(op)
	checkLength(op, n)
	if n > d.capacity(h) {
		if err := d.grow(op, h, n, int(h.length), int(h.length), nil); err != nil {
			return nil, err
		}
	}
	if n > int(h.length) {
		fresh = d.elements(h)[h.length:n]
	}
	h.length = uint32(n)
	return fresh, nil
}

// Trim gives back what room the elements do not need. They move back inside the
// chunk when they fit, else to the smallest block that holds them when it is
// smaller than what they have. It never fails: when the system has no memory to
// move them, they stay.
func (d DynamicBuffer[T]) Trim() {
	if h := d.writable("DynamicBuffer.Trim"); h.ref != 0 {
		d.w.trimSpill(h, &d.w.types[d.id])
	}
}

// grow is rebuild with the room that the type's Growth gives.
func (d DynamicBuffer[T]) grow(op string, h *header, need, lo, hi int, v []T) error {
	return d.rebuild(op, h, d.w.types[d.id].growth.Next(d.capacity(h), need), need, lo, hi, v)
}

// rebuild moves the buffer to a new block with room for want elements, or for need
// when memory is short, and puts v in the place of elements [lo, hi) on the way.
// What the buffer had is given back last, since v may lie in it. On an error
// nothing has changed.
//
//go:noinline
func (d DynamicBuffer[T]) rebuild(op string, h *header, want, need, lo, hi int, v []T) error {
	t := &d.w.types[d.id]
	next, err := d.w.newSpill(t, want, need)
	if err != nil {
		return during(op, err)
	}
	old, e := d.elements(h)[:h.length], d.elements(&next)
	copy(e, old[:lo])
	copy(e[lo:], v)
	copy(e[lo+len(v):], old[hi:])
	next.length = uint32(len(old) - (hi - lo) + len(v))
	d.w.replace(h, next, t)
	return nil
}

func checkLength(op string, n int) {
	if n < 0 {
		panic(fmt.Sprintf("ecs: %s: n=%d is negative", op, n))
	}
}
