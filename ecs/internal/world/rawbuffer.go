package world

import (
	"fmt"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
)

// RawBuffer is a DynamicBuffer without the element type. It checks that the buffer may be used;
// package value operates on the elements. Each method rereads the header, so several views of one
// buffer may be used in turn.
type RawBuffer struct {
	Lookup *Lookup
	Head   *value.Header
	Epoch  uint64 // the world's epoch when the view was opened
	Write  bool   // the view may change the buffer
}

// Open returns e's buffer, and marks it changed if write is set. ok is false if e is not alive or
// lacks the type.
func (t *Type) Open(op LookupOp, e entity.ID, write bool) (b RawBuffer, ok bool) {
	var p unsafe.Pointer
	if write {
		p = t.Mut(op, e)
	} else {
		p, _ = t.OwnerLookup().LookUp(op, e)
	}
	return t.OwnerLookup().buffer(p, write)
}

// buffer returns the buffer at p; ok is false for a nil p.
func (f *Lookup) buffer(p unsafe.Pointer, write bool) (b RawBuffer, ok bool) {
	if p == nil {
		return RawBuffer{}, false
	}
	// Safe because a buffer's value is a header.
	return RawBuffer{f, (*value.Header)(p), f.Type.World.Writer.Epoch, write}, true
}

// Header returns the buffer's header. It is small enough to be inlined; its panics are out of line.
func (b RawBuffer) Header(op string) *value.Header {
	if b.Lookup == nil || b.Epoch != *b.Lookup.toRead {
		b.Refuse(op)
	}
	return b.Head
}

// Writable is header for methods that change the buffer.
func (b RawBuffer) Writable(op string) *value.Header {
	if !b.Write || b.Epoch != *b.Lookup.ToWrite { // so the zero RawBuffer cannot be written
		b.Refuse(op)
	}
	return b.Head
}

// Refuse panics with the reason why a RawBuffer may not be used: its epoch has passed, also because
// its world was closed, or it is not for writing.
//
//go:noinline
func (b RawBuffer) Refuse(op string) {
	if b.Lookup == nil {
		panic("ecs: " + op + ": the buffer is the zero value; buffers come from Buffer.Get, Mut and At")
	}
	b.Lookup.CheckRead(op)
	t := b.Lookup.Type
	switch {
	case b.Lookup.Lease == nil && b.Write:
		t.CheckLent(op, MayWrite)
	case b.Lookup.Lease == nil:
		t.World.RefuseShared(op)
	}
	if b.Epoch != t.World.Writer.Epoch {
		panic(fmt.Sprintf("ecs: %s: the view of a %s is no longer current: the world has changed since it was taken",
			op, t.Name))
	}
	panic(fmt.Sprintf("ecs: %s: the %s was opened to read: use Buffer.Mut or ecs.Write", op, t.Name))
}

// Source returns the n elements at p, which belong to a caller's slice.
func (b RawBuffer) Source(p unsafe.Pointer, n int) []byte {
	return unsafe.Slice((*byte)(p), n*b.Lookup.Shape.Element) // Safe because the caller's slice has them.
}

// Append is TryAppend for n elements at p.
func (b RawBuffer) Append(op string, p unsafe.Pointer, n int) error {
	h := b.Writable(op)
	k, length := &b.Lookup.Shape, h.Len()
	if length+n > k.Cap(h) {
		return b.Grow(op, h, length+n, b.Source(p, n))
	}
	copy(b.Lookup.Spill.Bytes(h, k, length, length+n), b.Source(p, n))
	h.SetLen(length + n)
	return nil
}

// Grow grows the buffer to hold need elements and appends the elements of from.
//
//go:noinline
func (b RawBuffer) Grow(op string, h *value.Header, need int, from []byte) error {
	return WithOp(op, LimitErrorOf(b.Lookup.Spill.Grow(h, &b.Lookup.Shape, need, h.Len(), h.Len(), from)))
}

// Insert is TryInsert for n elements at p.
func (b RawBuffer) Insert(op string, i int, p unsafe.Pointer, n int) error {
	h := b.Writable(op)
	if uint(i) > uint(h.Len()) {
		panic(fmt.Sprintf("ecs: %s: index %d is not in [0, %d]", op, i, h.Len()))
	}
	if err := b.Lookup.Spill.Insert(h, &b.Lookup.Shape, i, n, b.Source(p, n)); err != nil {
		return WithOp(op, LimitErrorOf(err))
	}
	return nil
}

// CopyFrom is TryCopyFrom for n elements at p.
func (b RawBuffer) CopyFrom(op string, p unsafe.Pointer, n int) error {
	h := b.Writable(op)
	if err := b.Lookup.Spill.Set(h, &b.Lookup.Shape, n, b.Source(p, n)); err != nil {
		return WithOp(op, LimitErrorOf(err))
	}
	return nil
}

// Element is like writable but panics if there is no element i.
func (b RawBuffer) Element(op string, i int) *value.Header {
	h := b.Writable(op)
	if uint(i) >= uint(h.Len()) {
		panic(fmt.Sprintf("ecs: %s: index %d is not in [0, %d)", op, i, h.Len()))
	}
	return h
}

// Resize sets the length and returns the new elements.
func (b RawBuffer) Resize(op string, n int) (fresh []byte, err error) {
	h := b.Writable(op)
	CheckLength(op, n)
	if fresh, err = b.Lookup.Spill.Resize(h, &b.Lookup.Shape, n); err != nil {
		return nil, WithOp(op, LimitErrorOf(err))
	}
	return fresh, nil
}

// Span is like writable but panics unless [lo, hi) are elements of the buffer.
func (b RawBuffer) Span(op string, lo, hi int) *value.Header {
	h := b.Writable(op)
	if lo < 0 || lo > hi || hi > h.Len() {
		panic(fmt.Sprintf("ecs: %s: [%d, %d) is not a range within [0, %d)", op, lo, hi, h.Len()))
	}
	return h
}

// CheckLength panics for a negative number of elements.
func CheckLength(op string, n int) {
	if n < 0 {
		panic(fmt.Sprintf("ecs: %s: n=%d is negative", op, n))
	}
}
