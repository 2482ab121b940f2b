package fuzz

import (
	"fmt"
	"slices"

	"quarry/ecs"
)

// Operations on a buffer other than appending.

type editKind uint8

const (
	insertEdit editKind = iota
	insertOwnEdit
	removeAtEdit
	removeRangeEdit
	resizeEdit
	unsetEdit
	reserveEdit
	trimEdit
	copyEdit
	copyOwnEdit
	editKinds
)

// edit is a call of a buffer's method.
type edit struct {
	what   editKind
	lo, hi int // a range of the elements
	n      int // how many new elements, or the new length
	seed   uint64
	at     target
}

// editOf makes a call that suits a buffer of the given length.
func (d *world) editOf(r record, length int, b bufferKind) edit {
	c := edit{what: editKind(r.kind>>2) % editKinds, seed: uint64(r.n), n: int(r.bits(0, 4))}
	c.at, _ = d.pick(uint16(r.n >> 16))
	switch {
	case r.bits(4, 4) == 0:
		c.n = int(r.bits(8, 9))
	case r.bits(4, 9) == 1:
		c.n = int(r.bits(13, 15)) % mostElements(b)
	}
	c.lo = int(r.bits(18, 14)) % (length + 1)
	c.hi = min(length, c.lo+int(r.bits(12, 5)))
	if c.what == removeAtEdit && c.lo == length {
		c.what = trimEdit
	}
	if c.what == insertOwnEdit && length > 3000 {
		c.what = removeRangeEdit
	}
	if c.what == insertEdit {
		c.n = min(c.n, mostElements(b)-length)
	}
	return c
}

// room is the number of elements for which a buffer of the given length needs room.
func (c edit) room(length int) int {
	switch c.what {
	case insertEdit:
		return length + c.n
	case insertOwnEdit:
		return length + c.hi - c.lo
	case resizeEdit, unsetEdit, reserveEdit, copyEdit:
		return c.n
	}
	return 0
}

func (d *world) editBuffer(r record) error {
	e, x, k, b := d.pickBuffer(r)
	if b == nil {
		return nil
	}
	c := d.editOf(r, b.length(x.values[k]), b)
	if err := d.doEdit(e, x, k, b, c, func() (any, error) { return b.edit(e, x.values[k], c) }); err != nil {
		return err
	}
	return d.list[k].same(e, x.values[k])
}

// doEdit makes a call and applies it to the model.
func (d *world) doEdit(e ecs.Entity, x *entity, k int, b bufferKind, c edit, call func() (any, error)) error {
	length := b.length(x.values[k])
	room := c.room(length)
	var want need
	if bytes := b.grows(e, room-length); bytes > 0 {
		want.run = (bytes + 1<<14 - 1) >> 14
		want.chunks = want.run
	}
	var now any
	done, err := d.attempt(want, func() (err error) {
		now, err = call()
		return err
	})
	if err != nil {
		return fmt.Errorf("edit %+v of %d elements: %w", c, length, err)
	}
	d.m.touch(x, k)
	if !done {
		return nil
	}
	d.m.setBuffer(x, k, b, now)
	switch {
	case room > b.inlined():
		d.m.spill(x, k, true)
	case c.what == trimEdit && b.length(now) <= b.inlined():
		d.m.spill(x, k, false)
	}
	return nil
}

func (b buffer[T]) edit(e ecs.Entity, old any, c edit) (any, error) {
	d, ok := b.h.Mut(e)
	if !ok {
		return old, fmt.Errorf("%v has no %v to edit", e, b.h)
	}
	return b.apply(d, old, c)
}

func (b buffer[T]) editAt(rows ecs.Rows, i int, old any, c edit) (any, error) {
	return b.apply(b.h.At(rows, i), old, c)
}

// apply makes the call, and does the same with slices.
func (b buffer[T]) apply(d ecs.DynamicBuffer[T], old any, c edit) (now any, err error) {
	v := old.([]T)
	switch c.what {
	case insertEdit:
		fresh := b.elements(c.n, c.seed, c.at)
		return slices.Concat(v[:c.lo], fresh, v[c.lo:]), ecs.Try(func() { d.Insert(c.lo, fresh...) })
	case insertOwnEdit:
		return slices.Concat(v[:c.lo], v[c.lo:c.hi], v[c.lo:]),
			ecs.Try(func() { d.Insert(c.lo, d.Slice()[c.lo:c.hi]...) })
	case removeAtEdit:
		d.RemoveAt(c.lo)
		return slices.Concat(v[:c.lo], v[c.lo+1:]), nil
	case removeRangeEdit:
		d.RemoveRange(c.lo, c.hi)
		return slices.Concat(v[:c.lo], v[c.hi:]), nil
	case resizeEdit:
		return slices.Concat(v[:min(len(v), c.n)], make([]T, max(0, c.n-len(v)))), ecs.Try(func() { d.Resize(c.n) })
	case unsetEdit:
		if err := ecs.Try(func() { d.ResizeUninitialized(c.n) }); err != nil {
			return old, err
		}
		fresh := b.elements(max(0, c.n-len(v)), c.seed, c.at)
		copy(d.Slice()[min(len(v), c.n):], fresh)
		return slices.Concat(v[:min(len(v), c.n)], fresh), nil
	case reserveEdit:
		if err := ecs.Try(func() { d.Reserve(c.n) }); err != nil {
			return old, err
		}
		if d.Cap() < c.n {
			return old, fmt.Errorf("after Reserve(%d): got capacity %d", c.n, d.Cap())
		}
		return v, nil
	case copyEdit:
		fresh := b.elements(c.n, c.seed, c.at)
		return fresh, ecs.Try(func() { d.CopyFrom(fresh) })
	case copyOwnEdit:
		return slices.Clone(v[c.lo:c.hi]), ecs.Try(func() { d.CopyFrom(d.Slice()[c.lo:c.hi]) })
	}
	before := d.Cap()
	if d.Trim(); d.Cap() > before {
		return old, fmt.Errorf("after Trim: got capacity %d, before it was %d", d.Cap(), before)
	}
	return v, nil
}
