package ecs

import (
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
	"quarry/internal/debug"
)

// array has the methods of DynamicBuffer that do not depend on T, so they are compiled once. Every
// T gets a wrapper for each method of an embedded type, so array has only exported methods; the
// others belong to RawBuffer.
type array struct{ raw world.RawBuffer }

// Len returns the number of elements.
func (a array) Len() int { return a.raw.Header("DynamicBuffer.Len").Len() }

// Cap returns the number of elements that fit without growing: at least those that fit inside the
// chunk.
func (a array) Cap() int {
	h := a.raw.Header("DynamicBuffer.Cap")
	return a.raw.Finder.Shape.Cap(h)
}

// RemoveAt removes element i and keeps the order of the others. It panics if i is not in [0,
// Len()). Cost: it moves the elements behind i; SwapRemove moves only one.
func (a array) RemoveAt(i int) {
	h := a.raw.Element("DynamicBuffer.RemoveAt", i)
	a.raw.Finder.Spill.Cut(h, &a.raw.Finder.Shape, i, i+1)
}

// RemoveRange removes elements [lo, hi) and keeps the order of the others. It panics unless 0 <= lo
// <= hi <= Len().
func (a array) RemoveRange(lo, hi int) {
	h := a.raw.Span("DynamicBuffer.RemoveRange", lo, hi)
	a.raw.Finder.Spill.Cut(h, &a.raw.Finder.Shape, lo, hi)
}

// SwapRemove removes element i and puts the last element in its place. It panics if i is not in [0,
// Len()).
func (a array) SwapRemove(i int) {
	h := a.raw.Element("DynamicBuffer.SwapRemove", i)
	a.raw.Finder.Spill.SwapCut(h, &a.raw.Finder.Shape, i, i+1)
}

// SwapRemoveRange removes elements [lo, hi) and fills the gap with the last elements, in their
// order. It panics unless 0 <= lo <= hi <= Len(). Cost: it moves hi-lo elements at most.
func (a array) SwapRemoveRange(lo, hi int) {
	h := a.raw.Span("DynamicBuffer.SwapRemoveRange", lo, hi)
	a.raw.Finder.Spill.SwapCut(h, &a.raw.Finder.Shape, lo, hi)
}

// Clear removes all elements and keeps the capacity.
func (a array) Clear() { a.raw.Writable("DynamicBuffer.Clear").SetLen(0) }

// Reserve ensures room for n elements in total, so that the buffer does not grow until it holds
// more. The capacity becomes n plus what the heap block has beyond that; the Growth policy applies
// only to buffers that grow by themselves. Reserve never shrinks the buffer. It panics if n is
// negative, and like Append.
func (a array) Reserve(n int) {
	if err := a.TryReserve(n); err != nil {
		panic(err)
	}
}

// TryReserve is like Reserve but returns the *LimitError.
func (a array) TryReserve(n int) error {
	h := a.raw.Writable("DynamicBuffer.Reserve")
	world.CheckLength("DynamicBuffer.Reserve", n)
	k := &a.raw.Finder.Shape
	if n <= k.Cap(h) {
		return nil
	}
	return world.During("DynamicBuffer.Reserve", world.Refused(a.raw.Finder.Spill.Rebuild(h, k, n, n, h.Len(), h.Len(), nil)))
}

// Resize sets the length of the buffer to n. Elements beyond n are removed; new elements are zero.
// It panics if n is negative, and like Append.
func (a array) Resize(n int) {
	if err := a.TryResize(n); err != nil {
		panic(err)
	}
}

// TryResize is like Resize but returns the *LimitError.
func (a array) TryResize(n int) error {
	fresh, err := a.raw.Resize("DynamicBuffer.Resize", n)
	value.Clear(fresh)
	return err
}

// ResizeUninitialized is like Resize but does not clear new elements, for callers that write all of
// them. New elements hold whatever the memory held before; debug builds fill them with a pattern.
func (a array) ResizeUninitialized(n int) {
	if err := a.TryResizeUninitialized(n); err != nil {
		panic(err)
	}
}

// TryResizeUninitialized is like ResizeUninitialized but returns the *LimitError.
func (a array) TryResizeUninitialized(n int) error {
	fresh, err := a.raw.Resize("DynamicBuffer.ResizeUninitialized", n)
	if debug.On {
		debug.Poison(fresh, debug.Fresh)
	}
	return err
}

// Trim releases capacity that the elements do not need. Elements that fit move back into the chunk;
// otherwise they move to the smallest block that holds them, if it is smaller than their current
// block. Trim never fails: if the system has no memory for the move, the elements stay where they
// are.
func (a array) Trim() {
	h := a.raw.Writable("DynamicBuffer.Trim")
	a.raw.Finder.Spill.Trim(h, &a.raw.Finder.Shape)
}
