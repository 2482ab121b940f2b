package fuzz

import (
	"fmt"

	"quarry/ecs"
)

// Look-ups of many entities, and of their places.

// lookupMany looks up a list of entities in every way, some of them dead or listed twice, and
// sometimes writes their values.
func (d *world) lookupMany(r record) error {
	list := d.someList(r)
	k, c := d.pickKind(r.kind)
	var write func(i int) any
	if r.bits(30, 1) != 0 {
		write = func(i int) any {
			x := d.m.entities[list[i]]
			x.values[k] = c.value(mix(uint64(r.n)+uint64(i)), list[i])
			d.m.touch(x, k)
			return x.values[k]
		}
	}
	if err := c.many(list, func(i int) any { return d.valueOf(list[i], k) }, write); err != nil {
		return err
	}
	for _, e := range list {
		if err := d.compareLocation(e, d.m.entities[e]); err != nil {
			return err
		}
		if c.buffer() == nil {
			if err := c.same(e, d.valueOf(e, k)); err != nil {
				return err
			}
		}
	}
	return nil
}

// valueOf returns an entity's value of a kind, or nil.
func (d *world) valueOf(e ecs.Entity, k int) any {
	if x := d.m.entities[e]; x != nil {
		return x.values[k]
	}
	return nil
}

// compareLocation compares the result of Locate.
func (d *world) compareLocation(e ecs.Entity, x *entity) error {
	got, ok := d.w.Locate(e)
	switch {
	case ok != (x != nil):
		return fmt.Errorf("Locate(%v): got %v, %v want %v", e, got, ok, x != nil)
	case !ok:
		return nil
	case got.Archetype != x.group.a:
		return fmt.Errorf("Locate(%v): got %v want %v", e, got, x.group.a)
	}
	row := got.Row
	for i := range got.Chunk {
		_, _, n := got.Archetype.Chunk(i)
		row += n
	}
	if row != x.row {
		return fmt.Errorf("Locate(%v): got %v, row %d of the archetype, want %d", e, got, row, x.row)
	}
	return nil
}

func (c component[T]) many(list []ecs.Entity, want, write func(i int) any) error {
	all := make([]T, len(list))
	for i := range all { // to be cleared where there is no value
		all[i] = c.from(uint64(i)+1, list[i])
	}
	missing := c.h.CopyList(all, list)
	for i, p := range c.h.GetList(nil, list) {
		v, have := want(i), T(c.zero().(T))
		if v != nil {
			have = v.(T)
		} else {
			missing--
		}
		if (p != nil) != (v != nil) || p != nil && *p != have {
			return fmt.Errorf("GetList: %v, %v: got %v want %v", list[i], c.h, p, v)
		}
		if all[i] != have {
			return fmt.Errorf("in CopyList: %v, %v: got %v want %v", list[i], c.h, all[i], have)
		}
		if q := c.h.Get(list[i]); q != p || c.h.Has(list[i]) != (p != nil) {
			return fmt.Errorf("Get(%v), %v: got %v want %v", list[i], c.h, q, v)
		}
	}
	if missing != 0 {
		return fmt.Errorf("in CopyList: %v: %d too many missing", c.h, missing)
	}
	if write == nil {
		return nil
	}
	for i, p := range c.h.MutList(nil, list) {
		switch {
		case p == nil:
		case i%2 == 0:
			*p = write(i).(T)
		case !c.h.Set(list[i], write(i).(T)):
			return fmt.Errorf("Set(%v), %v: got false want true", list[i], c.h)
		}
	}
	return nil
}

func (b buffer[T]) many(list []ecs.Entity, want, _ func(i int) any) error {
	for i, e := range list {
		v := want(i)
		s := b.h.Slice(e)
		if v == nil && s != nil || v != nil && len(s) != len(v.([]T)) {
			return fmt.Errorf("Buffer.Slice(%v), %v: got %v want %v", e, b.h, s, v)
		}
		if err := b.same(e, v); err != nil {
			return err
		}
	}
	return nil
}
