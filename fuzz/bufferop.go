package fuzz

import "quarry/ecs"

// Operations on the buffer of one entity.

// pickBuffer returns a picked entity's buffer, or a nil kind.
func (d *world) pickBuffer(r record) (ecs.Entity, *entity, int, bufferKind) {
	e, x := d.pick(r.who)
	if x == nil {
		return e, nil, 0, nil
	}
	for i := range d.list {
		k := (int(r.kind) + i) % len(d.list)
		if b := d.list[k].buffer(); b != nil && x.values[k] != nil {
			return e, x, k, b
		}
	}
	return e, x, 0, nil
}

func (d *world) append(r record) error {
	e, x, k, b := d.pickBuffer(r)
	if b == nil {
		return nil
	}
	n := int(r.bits(0, 3))
	switch {
	case r.bits(3, 4) == 0:
		n = int(r.bits(7, 9))
	case r.bits(3, 8) == 1:
		n = int(r.bits(11, 15)) % mostElements(b)
	}
	return d.appendSome(e, x, k, r, n)
}

// mostElements is the most elements that the model lets a buffer have: 1 MiB. Larger ones have runs
// of chunks, which the model does not know.
func mostElements(b bufferKind) int { return 1 << 20 / b.elementBytes() }

// appendSome appends n elements, chosen by a record, or as many as the model allows, to an entity's
// buffer.
func (d *world) appendSome(e ecs.Entity, x *entity, k int, r record, n int) error {
	b := d.list[k].buffer()
	n = min(n, mostElements(b)-b.length(x.values[k]))
	bytes, want := b.grows(e, n), need{}
	if bytes > 0 {
		want.run = (bytes + 1<<14 - 1) >> 14
		want.chunks = want.run
	}
	at, _ := d.pick(uint16(r.n >> 16))
	var now any
	done, err := d.attempt(want, func() (err error) {
		now, err = b.appendTo(e, x.values[k], n, uint64(r.n), at, r.kind&1 == 0)
		return err
	})
	if err != nil {
		return err
	}
	if done {
		d.m.setBuffer(x, k, b, now)
	} else {
		d.m.touch(x, k) // the buffer was opened for writing
	}
	return d.list[k].same(e, x.values[k])
}

// appendOwn appends a buffer's own elements to it; the buffer may have to grow.
func (d *world) appendOwn(r record) error {
	e, x, k, b := d.pickBuffer(r)
	if b == nil || b.length(x.values[k]) > 3000 {
		return nil
	}
	bytes := b.grows(e, b.length(x.values[k]))
	run := (bytes + 1<<14 - 1) >> 14
	var now any
	done, err := d.attempt(need{run: run, chunks: run}, func() (err error) {
		now, err = b.appendOwn(e, x.values[k])
		return err
	})
	if err != nil {
		return err
	}
	if done {
		d.m.setBuffer(x, k, b, now)
	} else {
		d.m.touch(x, k)
	}
	return d.list[k].same(e, x.values[k])
}

func (d *world) swapRemove(r record) error {
	e, x, k, b := d.pickBuffer(r)
	if b == nil || b.length(x.values[k]) == 0 {
		return nil
	}
	d.m.setBuffer(x, k, b, b.swapRemove(e, x.values[k], int(r.n%uint32(b.length(x.values[k])))))
	return d.list[k].same(e, x.values[k])
}

func (d *world) clear(r record) error {
	e, x, k, b := d.pickBuffer(r)
	if b == nil {
		return nil
	}
	d.m.setBuffer(x, k, b, b.clear(e))
	return d.list[k].same(e, x.values[k])
}
