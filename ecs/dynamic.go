package ecs

import (
	"fmt"
	"unsafe"
)

// DynamicBuffer is the growing array that one entity has. It is a view: the
// elements belong to the entity, move with it and end with it. It is good until
// the next structural change of the world; one that is kept longer is caught
// when it is used.
type DynamicBuffer[T any] struct {
	w     *World
	h     *header
	id    typeID
	write bool   // the view may change the buffer
	epoch uint64 // of the world when the view was made
}

func (d DynamicBuffer[T]) header(op string) *header {
	if d.w == nil || d.epoch != d.w.epoch || d.w.closed {
		d.stale(op)
	}
	return d.h
}

//go:noinline
func (d DynamicBuffer[T]) stale(op string) {
	if d.w == nil {
		panic("ecs: " + op + ": the buffer is the zero value; buffers come from Buffer.Get, Mut and At")
	}
	panic(fmt.Sprintf("ecs: %s: the view of a %s is no longer current: the world has changed since it was taken", op, d.w.types[d.id].name))
}

func (d DynamicBuffer[T]) writable(op string) *header {
	h := d.header(op)
	if !d.write {
		panic(fmt.Sprintf("ecs: %s: the %s was opened to read: use Buffer.Mut or ecs.Write", op, d.w.types[d.id].name))
	}
	return h
}

// Len returns the number of elements.
func (d DynamicBuffer[T]) Len() int { return int(d.header("DynamicBuffer.Len").length) }

// Cap returns the number of elements that there is room for without growing.
func (d DynamicBuffer[T]) Cap() int { return d.capacity(d.header("DynamicBuffer.Cap")) }

func (d DynamicBuffer[T]) capacity(h *header) int {
	if h.ref == 0 {
		return d.w.types[d.id].inline
	}
	return int(h.capacity)
}

// Slice returns the elements. The slice is good until the buffer grows or the
// world changes.
func (d DynamicBuffer[T]) Slice() []T {
	h := d.header("DynamicBuffer.Slice")
	return d.elements(h)[:h.length]
}

// elements returns the whole room of the buffer.
func (d DynamicBuffer[T]) elements(h *header) []T {
	if h.ref != 0 {
		// Safe because the block has room for capacity elements.
		return unsafe.Slice((*T)(d.w.spilled(h)), h.capacity)
	}
	// Safe because the header is followed by room for inline elements; headerSize
	// is a multiple of every alignment.
	return unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(h), headerSize)), d.w.types[d.id].inline)
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
	need := int(h.length) + len(v)
	old := *h
	if need > d.capacity(h) {
		if err := d.grow(h, need); err != nil {
			return during("DynamicBuffer.Append", err)
		}
	}
	copy(d.elements(h)[h.length:need], v)
	h.length = uint32(need)
	if old.ref != h.ref {
		d.w.freeSpill(&old) // only now: v may be a slice of this very buffer
	}
	return nil
}

// grow copies the elements to a block with room for need or more. The old block
// is the caller's to free.
func (d DynamicBuffer[T]) grow(h *header, need int) error {
	var t T
	size := int(unsafe.Sizeof(t))
	if need > maxSpillBytes/size {
		return limit("bytes of a buffer", maxSpillBytes, nil)
	}
	room := min(d.w.types[d.id].growth.Next(d.capacity(h), need), maxSpillBytes/size)
	p, err := d.w.local.Alloc(room*size, 0)
	if err != nil && d.w.Trim() > 0 {
		p, err = d.w.local.Alloc(room*size, 0)
	}
	if err != nil && room > need {
		p, err = d.w.local.Alloc(need*size, 0)
	}
	if err != nil {
		return limit("", 0, err)
	}
	room = d.w.local.Usable(p) / size
	old := d.elements(h)[:h.length]
	// Safe because the block has at least room*size bytes.
	copy(unsafe.Slice((*T)(p), room), old)
	h.ref, h.capacity = d.w.spillRef(p), uint32(room)
	return nil
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
