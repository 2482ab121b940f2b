package ecs

import (
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// PlantLeak takes a block from the world's heap that no buffer has.
func (w *World) PlantLeak(bytes int) error {
	_, err := w.core.Buffers.OwnerSpill().Take(&value.Shape{Element: 1}, bytes)
	return err
}

// CorruptHeader changes the header of e's buffer in one of the ways that W7
// forbids, and returns what puts it right.
func (h handle) CorruptHeader(e Entity, what string) (restore func()) {
	v, _ := h.t.Open(world.OpBufferMut, entity.ID(e), true)
	// Safe because a header is four words: ref, length, capacity, 0.
	old, words := *v.Head, (*[4]uint32)(unsafe.Pointer(v.Head))
	switch what {
	case "length":
		words[1] = words[2] + 1
	case "capacity below the inline room":
		words[1], words[2] = 0, uint32(h.t.Shape.Inline)
	case "capacity above the block":
		words[2]++
	case "no block there":
		words[0]++
	case "outside the universe":
		words[0] = 1<<32 - 1
	case "forgotten block":
		*v.Head = value.Header{}
	}
	return func() { *v.Head = old }
}

// SpilledSize returns the bytes that elements have in e's block, or 0 when the buffer is
// inline.
func (h handle) SpilledSize(e Entity) int {
	v, _ := h.t.Open(world.OpBufferGet, entity.ID(e), false)
	if !v.Head.Spilled() {
		return 0
	}
	return h.t.Shape.Cap(v.Head) * h.t.Shape.Element
}

// Place returns the bytes from the chunk's start to e's header and the bytes from
// one row to the next.
func (h handle) Place(e Entity) (header, stride uintptr) {
	p, _ := h.t.OwnerLookup().LookUp(world.OpBufferGet, entity.ID(e))
	return (uintptr(p) - uintptr(h.t.World.Base)) % (1 << 14), uintptr(h.t.Size)
}
