package ecs

import (
	"fmt"
	"slices"
	"unsafe"
)

// DynamicBuffer is the growing array that one entity has. It is a view: the
// elements belong to the entity, move with it and end with it. It is good until
// the next structural change of the world; one that is kept longer is caught
// when it is used. Several views of one buffer may be used in turn.
//
// Elements that are given as arguments may be those of the buffer itself, or of
// any other: what counts is what they held before the call.
//
// Every index and length is checked before anything changes. Methods allocate
// nothing on Go's heap.
type DynamicBuffer[T any] struct {
	w     *World
	h     *header
	id    typeID
	write bool   // the view may change the buffer
	epoch uint64 // of the world when the view was made
}

// header returns the buffer's header. It and writable are small enough to be
// inlined, with what they say out of line.
func (d DynamicBuffer[T]) header(op string) *header {
	if d.w == nil || d.epoch != d.w.epoch {
		refuseView(d.w, d.id, d.epoch, op)
	}
	return d.h
}

func (d DynamicBuffer[T]) writable(op string) *header {
	if d.w != nil && d.w.phase != nil {
		d.w.phase.refuse(op)
	}
	if d.w == nil || d.epoch != d.w.epoch || !d.write {
		refuseView(d.w, d.id, d.epoch, op)
	}
	return d.h
}

// refuseView says what is wrong with a view of a buffer of type id: it is of
// another epoch, which includes that its world was closed, or not for writing.
//
//go:noinline
func refuseView(w *World, id typeID, epoch uint64, op string) {
	switch {
	case w == nil:
		panic("ecs: " + op + ": the buffer is the zero value; buffers come from Buffer.Get, Mut and At")
	case epoch != w.epoch:
		panic(fmt.Sprintf("ecs: %s: the view of a %s is no longer current: the world has changed since it was taken", op, w.types[id].name))
	}
	panic(fmt.Sprintf("ecs: %s: the %s was opened to read: use Buffer.Mut or ecs.Write", op, w.types[id].name))
}

// Append adds elements at the end. It panics with a *LimitError when there is
// no room; the buffer is as it was then. Room doubles when it grows, or follows
// the option Growth, as far as there is memory and the limit of 1 MiB allows.
func (d DynamicBuffer[T]) Append(v ...T) {
	if err := d.TryAppend(v...); err != nil {
		panic(err)
	}
}

// TryAppend is Append that returns the *LimitError.
func (d DynamicBuffer[T]) TryAppend(v ...T) error {
	h := d.writable("DynamicBuffer.Append")
	e, n := d.elements(h), int(h.length)
	need := n + len(v)
	if need > len(e) {
		return d.grow("DynamicBuffer.Append", h, need, n, n, v)
	}
	copy(e[n:], v)
	h.length = uint32(need)
	return nil
}

// Insert puts elements before element i, or at the end when i is Len(). It panics
// when i is not in [0, Len()], and like Append. Cost: it moves the elements from i
// on.
func (d DynamicBuffer[T]) Insert(i int, v ...T) {
	if err := d.TryInsert(i, v...); err != nil {
		panic(err)
	}
}

// TryInsert is Insert that returns the *LimitError.
func (d DynamicBuffer[T]) TryInsert(i int, v ...T) error {
	h := d.writable("DynamicBuffer.Insert")
	n := int(h.length)
	if uint(i) > uint(n) {
		panic(fmt.Sprintf("ecs: DynamicBuffer.Insert: index %d is not in [0, %d]", i, n))
	}
	need := n + len(v)
	if need > d.capacity(h) {
		return d.grow("DynamicBuffer.Insert", h, need, i, i, v)
	}
	e := d.elements(h)[i:need]
	tail := n - i
	if overlap(e, v) {
		// Shifting the tail would overwrite v: append it, then swap the two parts.
		copy(e[tail:], v)
		slices.Reverse(e[:tail])
		slices.Reverse(e[tail:])
		slices.Reverse(e)
	} else {
		copy(e[len(v):], e[:tail])
		copy(e, v)
	}
	h.length = uint32(need)
	return nil
}

// overlap reports whether two slices share memory.
func overlap[T any](a, b []T) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	size := unsafe.Sizeof(a[0])
	// Safe because the addresses are only compared.
	x, y := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return x < y+uintptr(len(b))*size && y < x+uintptr(len(a))*size
}

// CopyFrom makes the buffer hold a copy of v and nothing else. It panics like
// Append; room stays when v is shorter.
func (d DynamicBuffer[T]) CopyFrom(v []T) {
	if err := d.TryCopyFrom(v); err != nil {
		panic(err)
	}
}

// TryCopyFrom is CopyFrom that returns the *LimitError.
func (d DynamicBuffer[T]) TryCopyFrom(v []T) error {
	h := d.writable("DynamicBuffer.CopyFrom")
	if len(v) > d.capacity(h) {
		return d.grow("DynamicBuffer.CopyFrom", h, len(v), 0, int(h.length), v)
	}
	copy(d.elements(h), v)
	h.length = uint32(len(v))
	return nil
}

// RemoveAt takes element i out and closes the gap in order. It panics when i is not
// in [0, Len()). Cost: it moves the elements behind i; SwapRemove moves one.
func (d DynamicBuffer[T]) RemoveAt(i int) {
	h := d.writable("DynamicBuffer.RemoveAt")
	if uint(i) >= uint(h.length) {
		panic(fmt.Sprintf("ecs: DynamicBuffer.RemoveAt: index %d is not in [0, %d)", i, h.length))
	}
	e := d.elements(h)[i:h.length]
	copy(e, e[1:])
	h.length--
}

// RemoveRange takes elements [lo, hi) out and closes the gap in order. It panics
// unless 0 <= lo <= hi <= Len().
func (d DynamicBuffer[T]) RemoveRange(lo, hi int) {
	h := d.writable("DynamicBuffer.RemoveRange")
	n := int(h.length)
	if lo < 0 || lo > hi || hi > n {
		panic(fmt.Sprintf("ecs: DynamicBuffer.RemoveRange: [%d, %d) is not a range within [0, %d)", lo, hi, n))
	}
	e := d.elements(h)[:n]
	h.length = uint32(lo + copy(e[lo:], e[hi:]))
}

// SwapRemove takes element i out and puts the last one in its place. It panics
// when i is not in [0, Len()).
func (d DynamicBuffer[T]) SwapRemove(i int) {
	h := d.writable("DynamicBuffer.SwapRemove")
	if uint(i) >= uint(h.length) {
		panic(fmt.Sprintf("ecs: DynamicBuffer.SwapRemove: index %d is not in [0, %d)", i, h.length))
	}
	e := d.elements(h)
	e[i] = e[h.length-1]
	h.length--
}

// Clear takes all elements out and keeps the room.
func (d DynamicBuffer[T]) Clear() { d.writable("DynamicBuffer.Clear").length = 0 }
