package ecs

import (
	"fmt"
	"slices"
	"unsafe"
)

// view is a DynamicBuffer without the type of its elements, so that what follows is
// compiled once: elements are counted, and moved as bytes. Each method reads the header
// anew, so several views of one buffer may be used in turn.
type view struct {
	t     *typeInfo
	h     *header
	epoch uint64 // of the world when the view was made
	write bool   // the view may change the buffer
}

// view returns that of e's buffer, marked changed when it is to be written; ok is false
// when e is not alive or lacks the type.
func (t *typeInfo) view(op lookupOp, e Entity, write bool) (v view, ok bool) {
	var p unsafe.Pointer
	if write {
		p = t.mut(op, e)
	} else {
		p, _ = t.find(op, e)
	}
	if p == nil {
		return view{}, false
	}
	return view{t, (*header)(p), t.w.epoch, write}, true // Safe because a buffer's value is a header.
}

// viewAt returns the view of the i'th of rows.
func (t *typeInfo) viewAt(rows Rows, i int) view {
	column := rows.column(t, "Buffer.At")
	if uint(i) >= uint(rows.Len()) || column == nil {
		rows.noRow(t, i)
	}
	return view{t, bufferAt(column, rows.s.first+i, uint32(t.size)), t.w.epoch, rows.s.t.columnOf(t.id).flags()&mayWrite != 0}
}

// header returns the buffer's header. It is small enough to be inlined, with what it says
// out of line.
func (v view) header(op string) *header {
	if v.t == nil || v.epoch != v.t.w.epoch {
		v.refuse(op)
	}
	return v.h
}

// writable is header for what changes the buffer.
func (v view) writable(op string) *header {
	if !v.write || v.epoch != v.t.w.epoch || v.t.w.phase != nil { // the zero view is none to write
		v.refuse(op)
	}
	return v.h
}

// refuse says what is wrong with a view: it is of another epoch, which includes that
// its world was closed, or not for writing.
//
//go:noinline
func (v view) refuse(op string) {
	switch {
	case v.t == nil:
		panic("ecs: " + op + ": the buffer is the zero value; buffers come from Buffer.Get, Mut and At")
	case v.t.w.phase != nil:
		v.t.w.phase.refuse(op)
	case v.epoch != v.t.w.epoch:
		panic(fmt.Sprintf("ecs: %s: the view of a %s is no longer current: the world has changed since it was taken", op, v.t.name))
	}
	panic(fmt.Sprintf("ecs: %s: the %s was opened to read: use Buffer.Mut or ecs.Write", op, v.t.name))
}

func (v view) capacity(h *header) int {
	if h.ref == 0 {
		return v.t.inline
	}
	return int(h.capacity)
}

// room returns where the elements lie.
func (v view) room(h *header) unsafe.Pointer {
	return v.t.w.elements(h)
}

// bytes returns elements [lo, hi) of the room.
func (v view) bytes(h *header, lo, hi int) []byte {
	size := v.t.element
	if lo == hi {
		return nil // a pointer behind the last header of a chunk would point outside
	}
	// Safe because lo and hi are at most the capacity.
	return unsafe.Slice((*byte)(unsafe.Add(v.room(h), lo*size)), (hi-lo)*size)
}

// source returns the n elements at p, of a caller's slice.
func (v view) source(p unsafe.Pointer, n int) []byte {
	return unsafe.Slice((*byte)(p), n*v.t.element) // Safe because the caller's slice has them.
}

// append is TryAppend of n elements at p.
func (v view) append(op string, p unsafe.Pointer, n int) error {
	h := v.writable(op)
	length := int(h.length)
	if length+n > v.capacity(h) {
		return v.grow(op, h, length+n, length, length, v.source(p, n))
	}
	copy(v.bytes(h, length, length+n), v.source(p, n))
	h.length = uint32(length + n)
	return nil
}

// insert is TryInsert of n elements at p.
func (v view) insert(op string, i int, p unsafe.Pointer, n int) error {
	h := v.writable(op)
	length, from := int(h.length), v.source(p, n)
	if uint(i) > uint(length) {
		panic(fmt.Sprintf("ecs: %s: index %d is not in [0, %d]", op, i, length))
	}
	if length+n > v.capacity(h) {
		return v.grow(op, h, length+n, i, i, from)
	}
	e := v.bytes(h, i, length+n)
	tail := len(e) - len(from)
	if overlap(e, from) {
		// Shifting the tail would overwrite the source: append it, then swap the two parts.
		copy(e[tail:], from)
		slices.Reverse(e[:tail])
		slices.Reverse(e[tail:])
		slices.Reverse(e)
	} else {
		copy(e[len(from):], e[:tail])
		copy(e, from)
	}
	h.length = uint32(length + n)
	return nil
}

// overlap reports whether two slices share memory.
func overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	// Safe because the addresses are only compared.
	x, y := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return x < y+uintptr(len(b)) && y < x+uintptr(len(a))
}

// copyFrom is TryCopyFrom of n elements at p.
func (v view) copyFrom(op string, p unsafe.Pointer, n int) error {
	h := v.writable(op)
	if n > v.capacity(h) {
		return v.grow(op, h, n, 0, int(h.length), v.source(p, n))
	}
	copy(v.bytes(h, 0, n), v.source(p, n))
	h.length = uint32(n)
	return nil
}

// cut takes elements [lo, hi) out.
func (v view) cut(h *header, lo, hi int) {
	e := v.bytes(h, lo, int(h.length))
	copy(e, e[(hi-lo)*v.t.element:])
	h.length -= uint32(hi - lo)
}

// element is writable that panics unless there is an element i.
func (v view) element(op string, i int) *header {
	h := v.writable(op)
	if uint(i) >= uint(h.length) {
		panic(fmt.Sprintf("ecs: %s: index %d is not in [0, %d)", op, i, h.length))
	}
	return h
}

// resize sets the length and returns the new elements.
func (v view) resize(op string, n int) (fresh []byte, err error) {
	h := v.writable(op)
	checkLength(op, n)
	if n > v.capacity(h) {
		if err := v.grow(op, h, n, int(h.length), int(h.length), nil); err != nil {
			return nil, err
		}
	}
	if n > int(h.length) {
		fresh = v.bytes(h, int(h.length), n)
	}
	h.length = uint32(n)
	return fresh, nil
}

// grow is rebuild with the room that the type's Growth gives.
func (v view) grow(op string, h *header, need, lo, hi int, from []byte) error {
	return v.rebuild(op, h, v.t.growth.Next(v.capacity(h), need), need, lo, hi, from)
}

// rebuild moves the buffer to a new block with room for want elements, or for need
// when memory is short, and puts from in the place of elements [lo, hi) on the way.
// What the buffer had is given back last, since from may lie in it. On an error
// nothing has changed.
//
//go:noinline
func (v view) rebuild(op string, h *header, want, need, lo, hi int, from []byte) error {
	next, err := v.t.w.newSpill(v.t, want, need)
	if err != nil {
		return during(op, err)
	}
	length := int(h.length)
	e := v.bytes(&next, 0, int(next.capacity))
	n := copy(e, v.bytes(h, 0, lo))
	n += copy(e[n:], from)
	n += copy(e[n:], v.bytes(h, hi, length))
	next.length = uint32(n / v.t.element)
	v.t.w.replace(h, next, v.t)
	return nil
}

func checkLength(op string, n int) {
	if n < 0 {
		panic(fmt.Sprintf("ecs: %s: n=%d is negative", op, n))
	}
}
