package ecs

import (
	"fmt"
	"slices"
	"unsafe"
)

// rawBuffer is a DynamicBuffer without the type of its elements, so that what follows is
// compiled once: elements are counted, and moved as bytes. Each method reads the header
// anew, so several of one buffer may be used in turn.
type rawBuffer struct {
	t     *typeInfo
	h     *header
	epoch uint64 // of the world when it was opened
	write bool   // it may change the buffer
}

// open returns e's buffer, marked changed when it is to be written; ok is false
// when e is not alive or lacks the type.
func (t *typeInfo) open(op lookupOp, e Entity, write bool) (b rawBuffer, ok bool) {
	var p unsafe.Pointer
	if op == opBufferLookupMut {
		p = t.mutLent(op, e)
	} else if write {
		p = t.mut(op, e)
	} else {
		p, _ = t.find(op, e)
	}
	if p == nil {
		return rawBuffer{}, false
	}
	return rawBuffer{t, (*header)(p), t.w.epoch, write}, true // Safe because a buffer's value is a header.
}

// openAt returns the buffer of the i'th of rows.
func (t *typeInfo) openAt(rows Rows, i int) rawBuffer {
	column := rows.column(t, "Buffer.At")
	if uint(i) >= uint(rows.Len()) || column == nil {
		rows.noRow(t, i)
	}
	if l := rows.s.loan; l != nil {
		t = l.copyOf(t)
	}
	write := rows.s.t.columnOf(t.id).Flags()&(mayWrite|lentWrite) != 0
	return rawBuffer{t, bufferAt(column, rows.s.first+i, uint32(t.size)), t.w.epoch, write}
}

// header returns the buffer's header. It is small enough to be inlined, with what it says
// out of line.
func (b rawBuffer) header(op string) *header {
	if b.t == nil || b.epoch != *b.t.epoch {
		b.refuse(op)
	}
	return b.h
}

// writable is header for what changes the buffer.
func (b rawBuffer) writable(op string) *header {
	if !b.write || b.epoch != *b.t.epoch || b.t.guarded { // the zero rawBuffer is none to write
		b.refuse(op)
	}
	return b.h
}

// refuse says what is wrong with a rawBuffer: it is of another epoch, which includes that
// its world was closed, or not for writing.
//
//go:noinline
func (b rawBuffer) refuse(op string) {
	switch {
	case b.t == nil:
		panic("ecs: " + op + ": the buffer is the zero value; buffers come from Buffer.Get, Mut and At")
	case b.t.w.phase != nil:
		b.t.w.phase.refuse(op)
	case b.t.loan != nil && !b.t.loan.out:
		b.t.loan.refuse(op + ": " + b.t.name)
	case b.t.writers > 0 || b.write && b.t.readers > 0:
		b.t.refuseLent(op)
	case b.epoch != b.t.w.epoch:
		panic(fmt.Sprintf("ecs: %s: the view of a %s is no longer current: the world has changed since it was taken", op, b.t.name))
	}
	panic(fmt.Sprintf("ecs: %s: the %s was opened to read: use Buffer.Mut or ecs.Write", op, b.t.name))
}

func (b rawBuffer) capacity(h *header) int {
	if h.ref == 0 {
		return b.t.inline
	}
	return int(h.capacity)
}

// room returns where the elements lie.
func (b rawBuffer) room(h *header) unsafe.Pointer {
	return b.t.w.elements(h)
}

// bytes returns elements [lo, hi) of the room.
func (b rawBuffer) bytes(h *header, lo, hi int) []byte {
	size := b.t.element
	if lo == hi {
		return nil // a pointer behind the last header of a chunk would point outside
	}
	// Safe because lo and hi are at most the capacity.
	return unsafe.Slice((*byte)(unsafe.Add(b.room(h), lo*size)), (hi-lo)*size)
}

// source returns the n elements at p, of a caller's slice.
func (b rawBuffer) source(p unsafe.Pointer, n int) []byte {
	return unsafe.Slice((*byte)(p), n*b.t.element) // Safe because the caller's slice has them.
}

// append is TryAppend of n elements at p.
func (b rawBuffer) append(op string, p unsafe.Pointer, n int) error {
	h := b.writable(op)
	length := int(h.length)
	if length+n > b.capacity(h) {
		return b.grow(op, h, length+n, length, length, b.source(p, n))
	}
	copy(b.bytes(h, length, length+n), b.source(p, n))
	h.length = uint32(length + n)
	return nil
}

// insert is TryInsert of n elements at p.
func (b rawBuffer) insert(op string, i int, p unsafe.Pointer, n int) error {
	h := b.writable(op)
	length, from := int(h.length), b.source(p, n)
	if uint(i) > uint(length) {
		panic(fmt.Sprintf("ecs: %s: index %d is not in [0, %d]", op, i, length))
	}
	if length+n > b.capacity(h) {
		return b.grow(op, h, length+n, i, i, from)
	}
	e := b.bytes(h, i, length+n)
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
func (b rawBuffer) copyFrom(op string, p unsafe.Pointer, n int) error {
	h := b.writable(op)
	if n > b.capacity(h) {
		return b.grow(op, h, n, 0, int(h.length), b.source(p, n))
	}
	copy(b.bytes(h, 0, n), b.source(p, n))
	h.length = uint32(n)
	return nil
}

// cut takes elements [lo, hi) out.
func (b rawBuffer) cut(h *header, lo, hi int) {
	e := b.bytes(h, lo, int(h.length))
	copy(e, e[(hi-lo)*b.t.element:])
	h.length -= uint32(hi - lo)
}

// element is writable that panics unless there is an element i.
func (b rawBuffer) element(op string, i int) *header {
	h := b.writable(op)
	if uint(i) >= uint(h.length) {
		panic(fmt.Sprintf("ecs: %s: index %d is not in [0, %d)", op, i, h.length))
	}
	return h
}

// resize sets the length and returns the new elements.
func (b rawBuffer) resize(op string, n int) (fresh []byte, err error) {
	h := b.writable(op)
	checkLength(op, n)
	if n > b.capacity(h) {
		if err := b.grow(op, h, n, int(h.length), int(h.length), nil); err != nil {
			return nil, err
		}
	}
	if n > int(h.length) {
		fresh = b.bytes(h, int(h.length), n)
	}
	h.length = uint32(n)
	return fresh, nil
}

// grow is rebuild with the room that the type's Growth gives.
func (b rawBuffer) grow(op string, h *header, need, lo, hi int, from []byte) error {
	return b.rebuild(op, h, b.t.growth.Next(b.capacity(h), need), need, lo, hi, from)
}

// rebuild moves the buffer to a new block with room for want elements, or for need
// when memory is short, and puts from in the place of elements [lo, hi) on the way.
// What the buffer had is given back last, since from may lie in it. On an error
// nothing has changed.
//
//go:noinline
func (b rawBuffer) rebuild(op string, h *header, want, need, lo, hi int, from []byte) error {
	next, err := b.t.w.newSpill(b.t, want, need)
	if err != nil {
		return during(op, err)
	}
	length := int(h.length)
	e := b.bytes(&next, 0, int(next.capacity))
	n := copy(e, b.bytes(h, 0, lo))
	n += copy(e[n:], from)
	n += copy(e[n:], b.bytes(h, hi, length))
	next.length = uint32(n / b.t.element)
	b.t.w.replace(h, next, b.t)
	return nil
}

func checkLength(op string, n int) {
	if n < 0 {
		panic(fmt.Sprintf("ecs: %s: n=%d is negative", op, n))
	}
}
