package ecs

import (
	"fmt"
	"unsafe"

	"quarry/ecs/internal/value"
)

// rawBuffer is a DynamicBuffer without the element type. It checks that the buffer may be used;
// package value operates on the elements. Each method rereads the header, so several views of one
// buffer may be used in turn.
type rawBuffer struct {
	f     *finder
	h     *value.Header
	epoch uint64 // the world's epoch when the view was opened
	write bool   // the view may change the buffer
}

// open returns e's buffer, and marks it changed if write is set. ok is false if e is not alive or
// lacks the type.
func (t *typeInfo) open(op lookupOp, e Entity, write bool) (b rawBuffer, ok bool) {
	var p unsafe.Pointer
	if write {
		p = t.mut(op, e)
	} else {
		p, _ = t.own().find(op, e)
	}
	return t.own().buffer(p, write)
}

// buffer returns the buffer at p; ok is false for a nil p.
func (f *finder) buffer(p unsafe.Pointer, write bool) (b rawBuffer, ok bool) {
	if p == nil {
		return rawBuffer{}, false
	}
	return rawBuffer{f, (*value.Header)(p), f.t.w.rows.Epoch, write}, true // Safe because a buffer's value is a header.
}

// openAt returns the buffer of the i'th row of rows.
func (t *typeInfo) openAt(rows Rows, i int) rawBuffer {
	column := rows.columnFor(t, "Buffer.At", i, 1)
	if uint(i) >= uint(rows.Len()) || column == nil {
		rows.noRow(t, i)
	}
	write := rows.s.t.columnOf(t.id).Flags()&(mayWrite|gatedWrite) != 0
	return rawBuffer{rows.s.b.finderOf(t), value.HeaderAt(column, rows.s.first+i, uint32(t.size)), rows.s.t.a.w.rows.Epoch, write}
}

// header returns the buffer's header. It is small enough to be inlined; its panics are out of line.
func (b rawBuffer) header(op string) *value.Header {
	if b.f == nil || b.epoch != *b.f.toRead {
		b.refuse(op)
	}
	return b.h
}

// writable is header for methods that change the buffer.
func (b rawBuffer) writable(op string) *value.Header {
	if !b.write || b.epoch != *b.f.toWrite { // the zero rawBuffer is none to write
		b.refuse(op)
	}
	return b.h
}

// refuse panics with the reason why a rawBuffer may not be used: its epoch has passed, also because
// its world was closed, or it is not for writing.
//
//go:noinline
func (b rawBuffer) refuse(op string) {
	if b.f == nil {
		panic("ecs: " + op + ": the buffer is the zero value; buffers come from Buffer.Get, Mut and At")
	}
	b.f.checkRead(op)
	t := b.f.t
	switch {
	case b.f.b == nil && b.write:
		t.checkLent(op, mayWrite)
	case b.f.b == nil:
		t.w.refuseShared(op)
	}
	if b.epoch != t.w.rows.Epoch {
		// errors.md, Loops and rows: `the view of a ... is no longer current: the world has changed
		// since it was taken` | A `DynamicBuffer` was kept over a structural change; of a
		// `[]Child`, a loop over `hierarchy.Children` made one. | Take it again by `Get`, `Mut` or
		// `At`; loop over `slices.Collect(h.Children(e))`.
		panic(fmt.Sprintf("ecs: %s: the view of a %s is no longer current: the world has changed since it was taken", op, t.name))
	}
	// errors.md, Loops and rows: `was opened to read: use Buffer.Mut or ecs.Write` | A buffer from
	// `Get`, or from a `Read` term, is written. | As it says.
	panic(fmt.Sprintf("ecs: %s: the %s was opened to read: use Buffer.Mut or ecs.Write", op, t.name))
}

// source returns the n elements at p, which belong to a caller's slice.
func (b rawBuffer) source(p unsafe.Pointer, n int) []byte {
	return unsafe.Slice((*byte)(p), n*b.f.shape.Element) // Safe because the caller's slice has them.
}

// append is TryAppend for n elements at p.
func (b rawBuffer) append(op string, p unsafe.Pointer, n int) error {
	h := b.writable(op)
	k, length := &b.f.shape, h.Len()
	if length+n > k.Cap(h) {
		return b.grow(op, h, length+n, b.source(p, n))
	}
	copy(b.f.spill.Bytes(h, k, length, length+n), b.source(p, n))
	h.SetLen(length + n)
	return nil
}

// grow grows the buffer to hold need elements and appends the elements of from.
//
//go:noinline
func (b rawBuffer) grow(op string, h *value.Header, need int, from []byte) error {
	return during(op, refused(b.f.spill.Grow(h, &b.f.shape, need, h.Len(), h.Len(), from)))
}

// insert is TryInsert for n elements at p.
func (b rawBuffer) insert(op string, i int, p unsafe.Pointer, n int) error {
	h := b.writable(op)
	if uint(i) > uint(h.Len()) {
		panic(fmt.Sprintf("ecs: %s: index %d is not in [0, %d]", op, i, h.Len()))
	}
	if err := b.f.spill.Insert(h, &b.f.shape, i, n, b.source(p, n)); err != nil {
		return during(op, refused(err))
	}
	return nil
}

// copyFrom is TryCopyFrom for n elements at p.
func (b rawBuffer) copyFrom(op string, p unsafe.Pointer, n int) error {
	h := b.writable(op)
	if err := b.f.spill.Set(h, &b.f.shape, n, b.source(p, n)); err != nil {
		return during(op, refused(err))
	}
	return nil
}

// element is like writable but panics if there is no element i.
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
	if fresh, err = b.f.spill.Resize(h, &b.f.shape, n); err != nil {
		return nil, during(op, refused(err))
	}
	return fresh, nil
}

// span is like writable but panics unless [lo, hi) are elements of the buffer.
func (b rawBuffer) span(op string, lo, hi int) *value.Header {
	h := b.writable(op)
	if lo < 0 || lo > hi || hi > h.Len() {
		panic(fmt.Sprintf("ecs: %s: [%d, %d) is not a range within [0, %d)", op, lo, hi, h.Len()))
	}
	return h
}

func checkLength(op string, n int) {
	if n < 0 {
		panic(fmt.Sprintf("ecs: %s: n=%d is negative", op, n))
	}
}
