package ecs

import (
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/world"
	"quarry/internal/universe/door"
)

// World owns entities and their components. Only one goroutine at a time may use it, with two
// exceptions: any goroutine may call Reserve and Unreserve, except during Close, and several
// goroutines may read between Share and Borrow.End.
type World struct{ core world.World }

func (w *World) inner() *world.World  { return (*world.World)(unsafe.Pointer(w)) } // Safe because a World is its core.
func worldFrom(w *world.World) *World { return (*World)(unsafe.Pointer(w)) }       // Safe because a World is its core.

// Closed reports whether the world has been closed.
func (w *World) Closed() bool { return w.core.Closed }

// Universe returns the universe from which the world takes its chunks.
func (w *World) Universe() *alloc.Universe { return door.Face(w.core.Universe) }
