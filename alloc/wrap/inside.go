package wrap

import "quarry/alloc"

// checkInside panics when the allocator to be wrapped is nil; otherwise the first Alloc would fail,
// long after the mistake.
func checkInside(name string, a alloc.Allocator) {
	if a == nil {
		panic("wrap: " + name + ": the allocator is nil")
	}
}
