package ecs

// PlantLeak takes a block from the world's heap that no buffer has.
func (w *World) PlantLeak(bytes int) error {
	_, err := w.local.Alloc(bytes, 0)
	return err
}

// CorruptHeader changes the header of e's buffer in one of the ways that W7
// forbids, and returns what puts it right.
func (b Buffer[T]) CorruptHeader(e Entity, what string) (restore func()) {
	d, _ := b.Mut(e)
	old := *d.h
	switch what {
	case "length":
		d.h.length = d.h.capacity + 1
	case "capacity below the inline room":
		d.h.length, d.h.capacity = 0, uint32(b.inline)
	case "capacity above the block":
		d.h.capacity++
	case "no block there":
		d.h.ref++
	case "outside the universe":
		d.h.ref = 1<<32 - 1
	case "forgotten block":
		*d.h = header{}
	}
	return func() { *d.h = old }
}

// SpilledSize returns the usable bytes of e's block, or 0 when the buffer is
// inline.
func (b Buffer[T]) SpilledSize(e Entity) int {
	d, _ := b.Get(e)
	if d.h.ref == 0 {
		return 0
	}
	return b.w.local.Usable(b.w.spilled(d.h))
}

// Place returns the bytes from the chunk's start to e's header and the bytes from
// one row to the next.
func (b Buffer[T]) Place(e Entity) (header, stride uintptr) {
	p, _ := b.find(opBufferGet, e)
	return (uintptr(p) - uintptr(b.base)) % (1 << 14), uintptr(b.size)
}
