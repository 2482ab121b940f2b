package ecs

import (
	"fmt"

	"quarry/internal/debug"
)

// array is what a DynamicBuffer does that does not depend on T, so it is compiled once.
// Each T has wrappers of all methods of what is embedded, so no others are methods of
// array: those that are not exported are rawBuffer's.
type array struct{ raw rawBuffer }

// Len returns the number of elements.
func (a array) Len() int { return a.raw.header("DynamicBuffer.Len").Len() }

// Cap returns the number of elements that there is room for without growing, at
// least those that fit inside the chunk.
func (a array) Cap() int {
	h := a.raw.header("DynamicBuffer.Cap")
	return a.raw.f.shape.Cap(h)
}

// RemoveAt takes element i out and closes the gap in order. It panics when i is not
// in [0, Len()). Cost: it moves the elements behind i; SwapRemove moves one.
func (a array) RemoveAt(i int) {
	h := a.raw.element("DynamicBuffer.RemoveAt", i)
	a.raw.f.spill.Cut(h, &a.raw.f.shape, i, i+1)
}

// RemoveRange takes elements [lo, hi) out and closes the gap in order. It panics
// unless 0 <= lo <= hi <= Len().
func (a array) RemoveRange(lo, hi int) {
	h := a.raw.writable("DynamicBuffer.RemoveRange")
	if lo < 0 || lo > hi || hi > h.Len() {
		panic(fmt.Sprintf("ecs: DynamicBuffer.RemoveRange: [%d, %d) is not a range within [0, %d)", lo, hi, h.Len()))
	}
	a.raw.f.spill.Cut(h, &a.raw.f.shape, lo, hi)
}

// SwapRemove takes element i out and puts the last one in its place. It panics
// when i is not in [0, Len()).
func (a array) SwapRemove(i int) {
	h := a.raw.element("DynamicBuffer.SwapRemove", i)
	a.raw.f.spill.SwapRemove(h, &a.raw.f.shape, i)
}

// Clear takes all elements out and keeps the room.
func (a array) Clear() { a.raw.writable("DynamicBuffer.Clear").SetLen(0) }

// Reserve makes room for n elements in all, so that the buffer does not grow until
// it has more. The room is for n and what the heap gives beyond that: Growth is for
// buffers that grow by themselves. Room is never taken away. It panics when n is
// negative, and like Append.
func (a array) Reserve(n int) {
	if err := a.TryReserve(n); err != nil {
		panic(err)
	}
}

// TryReserve is Reserve that returns the *LimitError.
func (a array) TryReserve(n int) error {
	h := a.raw.writable("DynamicBuffer.Reserve")
	checkLength("DynamicBuffer.Reserve", n)
	k := &a.raw.f.shape
	if n <= k.Cap(h) {
		return nil
	}
	return during("DynamicBuffer.Reserve", refused(a.raw.f.spill.Rebuild(h, k, n, n, h.Len(), h.Len(), nil)))
}

// Resize makes the buffer n elements long: those beyond go, new ones are zero. It
// panics when n is negative, and like Append.
func (a array) Resize(n int) {
	if err := a.TryResize(n); err != nil {
		panic(err)
	}
}

// TryResize is Resize that returns the *LimitError.
func (a array) TryResize(n int) error {
	fresh, err := a.raw.resize("DynamicBuffer.Resize", n)
	clear(fresh)
	return err
}

// ResizeUninitialized is Resize that does not clear new elements: they are whatever was
// there before, for a caller that writes them all. Debug builds fill them with a
// pattern.
func (a array) ResizeUninitialized(n int) {
	if err := a.TryResizeUninitialized(n); err != nil {
		panic(err)
	}
}

// TryResizeUninitialized is ResizeUninitialized that returns the *LimitError.
func (a array) TryResizeUninitialized(n int) error {
	fresh, err := a.raw.resize("DynamicBuffer.ResizeUninitialized", n)
	if debug.On {
		debug.Poison(fresh, debug.Fresh)
	}
	return err
}

// Trim gives back what room the elements do not need. They move back inside the
// chunk when they fit, else to the smallest block that holds them when it is
// smaller than what they have. It never fails: when the system has no memory to
// move them, they stay.
func (a array) Trim() {
	h := a.raw.writable("DynamicBuffer.Trim")
	a.raw.f.spill.Trim(h, &a.raw.f.shape)
}
