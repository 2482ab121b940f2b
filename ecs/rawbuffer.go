package ecs

import (
	"fmt"
	"unsafe"

	"quarry/ecs/internal/value"
)

// rawBuffer is a DynamicBuffer without the type of its elements: it checks that the buffer may be
// used, and package value has what is done to the elements. Each method reads the header
// anew, so several of one buffer may be used in turn.
type rawBuffer struct {
	t     *typeInfo
	h     *value.Header
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
	return rawBuffer{t, (*value.Header)(p), t.w.rows.Epoch, write}, true // Safe because a buffer's value is a header.
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
	return rawBuffer{t, value.HeaderAt(column, rows.s.first+i, uint32(t.size)), t.w.rows.Epoch, write}
}

// header returns the buffer's header. It is small enough to be inlined, with what it says
// out of line.
func (b rawBuffer) header(op string) *value.Header {
	if b.t == nil || b.epoch != *b.t.epoch {
		b.refuse(op)
	}
	return b.h
}

// writable is header for what changes the buffer.
func (b rawBuffer) writable(op string) *value.Header {
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
	case b.t.w.loops.phase != nil:
		b.t.w.loops.phase.refuse(op)
	case b.t.loan != nil && !b.t.loan.out:
		b.t.loan.refuse(op + ": " + b.t.name)
	case b.t.writers > 0 || b.write && b.t.readers > 0:
		b.t.refuseLent(op)
	case b.epoch != b.t.w.rows.Epoch:
		panic(fmt.Sprintf("ecs: %s: the view of a %s is no longer current: the world has changed since it was taken", op, b.t.name))
	}
	panic(fmt.Sprintf("ecs: %s: the %s was opened to read: use Buffer.Mut or ecs.Write", op, b.t.name))
}

// source returns the n elements at p, of a caller's slice.
func (b rawBuffer) source(p unsafe.Pointer, n int) []byte {
	return unsafe.Slice((*byte)(p), n*b.t.shape.Element) // Safe because the caller's slice has them.
}

// append is TryAppend of n elements at p.
func (b rawBuffer) append(op string, p unsafe.Pointer, n int) error {
	h := b.writable(op)
	k, length := &b.t.shape, h.Len()
	if length+n > k.Cap(h) {
		return b.grow(op, h, length+n, b.source(p, n))
	}
	copy(b.t.spill.Bytes(h, k, length, length+n), b.source(p, n))
	h.SetLen(length + n)
	return nil
}

// grow lets the buffer grow for so many elements, of which those of from come behind the others.
//
//go:noinline
func (b rawBuffer) grow(op string, h *value.Header, need int, from []byte) error {
	return during(op, refused(b.t.spill.Grow(h, &b.t.shape, need, h.Len(), h.Len(), from)))
}

// insert is TryInsert of n elements at p.
func (b rawBuffer) insert(op string, i int, p unsafe.Pointer, n int) error {
	h := b.writable(op)
	if uint(i) > uint(h.Len()) {
		panic(fmt.Sprintf("ecs: %s: index %d is not in [0, %d]", op, i, h.Len()))
	}
	if err := b.t.spill.Insert(h, &b.t.shape, i, n, b.source(p, n)); err != nil {
		return during(op, refused(err))
	}
	return nil
}

// copyFrom is TryCopyFrom of n elements at p.
func (b rawBuffer) copyFrom(op string, p unsafe.Pointer, n int) error {
	h := b.writable(op)
	if err := b.t.spill.Set(h, &b.t.shape, n, b.source(p, n)); err != nil {
		return during(op, refused(err))
	}
	return nil
}

// element is writable that panics unless there is an element i.
func (b rawBuffer) element(op string, i int) *value.Header {
	h := b.writable(op)
	if uint(i) >= uint(h.Len()) {
		panic(fmt.Sprintf("ecs: %s: index %d is not in [0, %d)", op, i, h.Len()))
	}
	return h
}

// resize sets the length and returns the new elements.
func (b rawBuffer) resize(op string, n int) (fresh []byte, err error) {
	h := b.writable(op)
	checkLength(op, n)
	if fresh, err = b.t.spill.Resize(h, &b.t.shape, n); err != nil {
		return nil, during(op, refused(err))
	}
	return fresh, nil
}

func checkLength(op string, n int) {
	if n < 0 {
		panic(fmt.Sprintf("ecs: %s: n=%d is negative", op, n))
	}
}
