package ecs

// PlantLeak takes a block from the world's heap that no buffer has.
func (w *World) PlantLeak(bytes int) error {
	_, err := w.local.Alloc(bytes, 0)
	return err
}

// CorruptHeader changes the header of e's buffer in one of the ways that W7
// forbids, and returns what puts it right.
func (h handle) CorruptHeader(e Entity, what string) (restore func()) {
	v, _ := h.t.open(opBufferMut, e, true)
	old := *v.h
	switch what {
	case "length":
		v.h.length = v.h.capacity + 1
	case "capacity below the inline room":
		v.h.length, v.h.capacity = 0, uint32(h.t.inline)
	case "capacity above the block":
		v.h.capacity++
	case "no block there":
		v.h.ref++
	case "outside the universe":
		v.h.ref = 1<<32 - 1
	case "forgotten block":
		*v.h = header{}
	}
	return func() { *v.h = old }
}

// SpilledSize returns the usable bytes of e's block, or 0 when the buffer is
// inline.
func (h handle) SpilledSize(e Entity) int {
	v, _ := h.t.open(opBufferGet, e, false)
	if v.h.ref == 0 {
		return 0
	}
	return h.t.w.local.Usable(h.t.w.spilled(v.h))
}

// Place returns the bytes from the chunk's start to e's header and the bytes from
// one row to the next.
func (h handle) Place(e Entity) (header, stride uintptr) {
	p, _ := h.t.find(opBufferGet, e)
	return (uintptr(p) - uintptr(h.t.base)) % (1 << 14), uintptr(h.t.size)
}
