package fuzz

import (
	"errors"
	"fmt"
	"unsafe"

	"quarry/alloc"
)

// The heap driver: Locals, and broken contracts.

// maxLocals bounds the Locals that are open at the same time.
const maxLocals = 6

// allocator is what the heap and its Locals have in common.
type allocator interface {
	Alloc(size, align int) (unsafe.Pointer, error)
	AllocZeroed(size, align int) (unsafe.Pointer, error)
	Realloc(p unsafe.Pointer, size, align int) (unsafe.Pointer, error)
	ReallocSized(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error)
	ReallocZeroed(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error)
	Resize(p unsafe.Pointer, size int) bool
	Free(p unsafe.Pointer)
	FreeSized(p unsafe.Pointer, size, align int)
	Usable(p unsafe.Pointer) int
}

// through returns the heap or a Local, chosen by the record.
func (d *heap) through(r record) allocator {
	if i := int(r.n>>1) % (len(d.locals) + 1); i < len(d.locals) {
		return d.locals[i]
	}
	return d.h
}

// changeLocals opens a Local, or closes one whose blocks live on; calls of a closed Local panic.
func (d *heap) changeLocals(r record) error {
	if len(d.locals) < maxLocals && (r.kind < 160 || len(d.locals) == 0) {
		d.locals = append(d.locals, d.h.NewLocal())
		return nil
	}
	i := int(r.who) % len(d.locals)
	l := d.locals[i]
	l.Close()
	l.Close()
	d.locals[i] = d.locals[len(d.locals)-1]
	d.locals = d.locals[:len(d.locals)-1]
	if err := panics("alloc: Local.Alloc: the Local is closed",
		func() { _, _ = l.Alloc(int(r.who)%100, 0) }); err != nil {
		return err
	}
	if len(d.blocks) == 0 {
		return nil
	}
	return panics("alloc: Local.Free: the Local is closed", func() { l.Free(d.blocks[0].p) })
}

// trim gives back what the heap keeps: without Locals and blocks, everything.
func (d *heap) trim(record) error {
	if err := d.h.Trim(); err != nil {
		return err
	}
	s := d.h.Stats()
	if s.Kept != 0 || s.Ahead != 0 || len(d.blocks) == 0 && len(d.locals) == 0 && s.Chunks != 0 {
		return fmt.Errorf("after Trim: got %+v with %d blocks and %d Locals", s, len(d.blocks), len(d.locals))
	}
	return nil
}

// misuse frees pointers that are no blocks and makes impossible requests.
func (d *heap) misuse(r record) error {
	var word uint64
	a, prefix := d.through(r), "alloc: Heap."
	if _, ok := a.(*alloc.Local); ok {
		prefix = "alloc: Local."
	}
	wrong := []func(){
		func() { a.Free(unsafe.Pointer(&word)) },
		func() { a.Usable(unsafe.Pointer(&word)) },
		func() { _, _ = a.Alloc(-1, 0) },
		func() { _, _ = a.Alloc(1, 3) },
		func() { _, _ = a.Alloc(1, -16) },
		func() { _, _ = a.Alloc(1, 1<<31) },
		func() { _, _ = a.AllocZeroed(-1, 0) },
		func() { a.FreeSized(unsafe.Pointer(&word), 8, 0) },
		func() { a.Resize(unsafe.Pointer(&word), 8) },
	}
	if d.freed != nil && d.blockAt(d.freed) == nil {
		wrong = append(wrong, func() { a.Free(d.freed) }, func() { _, _ = a.Realloc(d.freed, 8, 0) },
			func() { _, _ = a.ReallocZeroed(d.freed, 8, 0, 8) })
	}
	if len(d.blocks) > 0 {
		b := d.blocks[int(r.who)%len(d.blocks)]
		inside := unsafe.Add(b.p, 1+int(r.n)%max(1, b.usable-1))
		wrong = append(wrong, func() { a.Free(inside) }, func() { a.Usable(unsafe.Add(b.p, 1)) })
	}
	for i, f := range wrong {
		if err := panics(prefix, f); err != nil {
			return fmt.Errorf("misuse %d: %w", i, err)
		}
	}
	if _, err := a.Alloc(1<<60, 0); !errors.Is(err, alloc.ErrTooBig) {
		return fmt.Errorf("2^60 bytes: got %v want alloc.ErrTooBig", err)
	}
	return nil
}
