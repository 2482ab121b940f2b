package wrap

import "quarry/alloc"

// checkInside panics when the allocator that another is put around is nil: the first
// block would be asked of it long after the mistake.
func checkInside(name string, a alloc.Allocator) {
	if a == nil {
		panic("wrap: " + name + ": the allocator is nil")
	}
}
