package door

import (
	"unsafe"

	"quarry/alloc"
	"quarry/internal/growth"
	"quarry/internal/universe"
)

// Universe returns the core of a universe; nil for nil.
func Universe(u *alloc.Universe) *universe.Universe {
	return (*universe.Universe)(unsafe.Pointer(u)) // Safe because a Universe is its core.
}

// Face returns the universe with a core; nil for nil.
func Face(u *universe.Universe) *alloc.Universe {
	return (*alloc.Universe)(unsafe.Pointer(u)) // Safe because a Universe is its core.
}

// Policy returns the core of a growth policy.
func Policy(g alloc.Growth) growth.Policy {
	return *(*growth.Policy)(unsafe.Pointer(&g)) // Safe because a Growth is its core.
}

// Growth returns the growth policy with a core.
func Growth(p growth.Policy) alloc.Growth {
	return *(*alloc.Growth)(unsafe.Pointer(&p)) // Safe because a Growth is its core.
}

// Faces are as large as their cores:
const (
	_ = uint(unsafe.Sizeof(alloc.Universe{}) - unsafe.Sizeof(universe.Universe{}))
	_ = uint(unsafe.Sizeof(universe.Universe{}) - unsafe.Sizeof(alloc.Universe{}))
	_ = uint(unsafe.Sizeof(alloc.Growth{}) - unsafe.Sizeof(growth.Policy{}))
	_ = uint(unsafe.Sizeof(growth.Policy{}) - unsafe.Sizeof(alloc.Growth{}))
)
