package fuzz

import (
	"fmt"
	"slices"

	"quarry/ecs"
)

// A chunk type as a kind. The model keeps only that an entity has the type, as the value present:
// the values belong to chunks, see chunkModels.

// chunkMarks is the value of a chunk: a set of marks. Merge unites two, so that a value shows whose
// marks came together.
type chunkMarks struct{ Marks uint64 }

func unite(into, from *chunkMarks) { into.Marks |= from.Marks }

// present is what an entity has of a chunk type.
type present struct{}

// chunked is a kind with one T per chunk.
type chunked[T comparable] struct{ h ecs.Chunk[T] }

func (c chunked[T]) Type() ecs.Type                           { return c.h }
func (c chunked[T]) toggles() toggler                         { return nil }
func (c chunked[T]) buffer() bufferKind                       { return nil }
func (c chunked[T]) shared() sharedKind                       { return nil }
func (c chunked[T]) listed() bool                             { return false }
func (c chunked[T]) zero() any                                { return present{} }
func (c chunked[T]) value(uint64, target) any                 { return present{} }
func (c chunked[T]) has(e ecs.Entity) bool                    { return c.h.Has(e) }
func (c chunked[T]) changed(rows ecs.Rows, since uint32) bool { return c.h.Changed(rows, since) }
func (c chunked[T]) open(rows ecs.Rows)                       { c.h.At(rows) }

func (c chunked[T]) same(e ecs.Entity, want any) error {
	if p := c.h.Get(e); (p != nil) != (want != nil) {
		return fmt.Errorf("%v has a %v: got %v want %v", e, c.h, p != nil, want != nil)
	}
	return nil
}

func (c chunked[T]) add(e ecs.Entity, _ any) (bool, error) {
	return tried(func() bool { return c.h.Add(e) })
}

func (c chunked[T]) remove(e ecs.Entity) (bool, error) {
	return tried(func() bool { return c.h.Remove(e) })
}

// set is only for entities of other worlds, see world.setChunkMarks.
func (c chunked[T]) set(e ecs.Entity, _ any, _ bool) bool {
	var v T
	return c.h.Set(e, v)
}

func (c chunked[T]) compare(rows ecs.Rows, want func(i int) any) error {
	has := c.h.ReadOnly(rows) != nil
	for i := range rows.Len() {
		if want(i) == nil || !has {
			return fmt.Errorf("row %d, %v: %v: got %v want %v", i, rows.Entities()[i], c.h, has, want(i) != nil)
		}
	}
	return nil
}

// fill writes nothing: see world.markRows.
func (c chunked[T]) fill(ecs.Rows, func(i int) any) {}

func (c chunked[T]) many(list []ecs.Entity, want, _ func(i int) any) error {
	return eachSame(c, list, want)
}

func (c chunked[T]) values(*ecs.Query, func(i int) any, int) error    { return nil }
func (c chunked[T]) setValues(*ecs.Query, func(i int) any, int) error { return nil }

func (c chunked[T]) absent(rows ecs.Rows) error {
	if c.h.In(rows) || c.h.At(rows) != nil || c.h.ReadOnly(rows) != nil || c.h.Changed(rows, 0) {
		return fmt.Errorf("%v: In, At, ReadOnly or Changed find what the chunk lacks", c.h)
	}
	return nil
}

// chunkMarks returns the handle of the chunk type.
func (d *world) chunkMarks() ecs.Chunk[chunkMarks] {
	return d.list[chunkMarksKind].(chunked[chunkMarks]).h
}

// setChunkMarks writes the value of the chunk of an entity.
func (d *world) setChunkMarks(e ecs.Entity, x *entity, n uint64, mut bool) error {
	if err := d.tend(); err != nil {
		return err
	}
	h, v := d.chunkMarks(), someMarks(n)
	has, got := x != nil && x.values[chunkMarksKind] != nil, false
	if !mut {
		got = h.Set(e, v)
	} else if p := h.Mut(e); p != nil {
		*p, got = v, true
	}
	if got != has {
		return fmt.Errorf("set %v of %v: got %v want %v", h, e, got, has)
	}
	if has {
		d.lotAt(e).write(v, d.m.version)
	}
	return d.compare(e, x)
}

// someMarks returns a value with about 8 of 64 marks.
func someMarks(n uint64) chunkMarks { return chunkMarks{mix(n) & mix(n+1) & mix(n+2)} }

// compareChunkMarks compares the value of the chunk of a loop's rows. If the loop may write, a look
// at the value marks it.
func (d *world) compareChunkMarks(rows ecs.Rows, want chunk, may uint8) error {
	h, l := d.chunkMarks(), d.lotOf(want.rows)
	for _, since := range d.sinces {
		if is := h.Changed(rows, since); is != (l.version > since) {
			return fmt.Errorf("%v: Changed since %d: got %v; the value's version is %d", h, since, is, l.version)
		}
	}
	p := h.At(rows)
	if p == nil || *p != l.value || p != h.ReadOnly(rows) {
		return fmt.Errorf("%v: At: got %v want %v", h, p, l.value)
	}
	if may == mayWrite {
		l.version = d.m.version
	}
	return nil
}

// markRows writes the value of the chunk of some rows, or marks it as changed, or only looks at
// it for writing.
func (d *world) markRows(rows ecs.Rows, n uint64) {
	h, l := d.chunkMarks(), d.lotAt(rows.Entities()[0]) // rows of a batch need not begin with the chunk
	switch n % 8 {
	case 0:
		h.Mark(rows)
		l.version = d.m.version
	case 1:
		h.ReadOnly(rows)
	default:
		v := someMarks(n)
		*h.At(rows) = v
		l.write(v, d.m.version)
	}
}

// markBatch writes the values of the chunks of a batch, among them rows that had been there.
func (d *world) markBatch(batch ecs.Batch, n uint64, write kinds) error {
	if !write.has(chunkMarksKind) || !d.active.has(chunkMarksKind) {
		return nil
	}
	if err := d.tend(); err != nil {
		return err
	}
	for rows := range batch.Rows() {
		if n = mix(n); rows.Archetype().Has(d.chunkMarks()) {
			d.markRows(rows, n)
		}
	}
	return nil
}

// markChunk writes the value of one entity's chunk, or those of many chunks in a loop.
func (d *world) markChunk(r record) error {
	if d.chunkModels == nil || r.kind&1 == 0 {
		e, x := d.pick(r.who)
		return d.setChunkMarks(e, x, uint64(r.n), r.n&1 == 0)
	}
	if err := d.renew(r); err != nil {
		return err
	}
	d.inLoop++
	n := uint64(r.n)
	for rows := range d.chunkModels.write.Rows() {
		if n = mix(n); n>>8%3 != 0 {
			d.markRows(rows, n)
		}
	}
	d.inLoop--
	return nil
}

// gather gives a tag to all rows of an archetype whose chunks have values, or takes it from them:
// the chunks go along to one that often has such rows, and come back.
func (d *world) gather(r record) error {
	tags := d.active & bare &^ (1 << chunkMarksKind)
	var some []*group
	for _, g := range d.m.groups {
		if g.set.has(chunkMarksKind) && len(g.rows) > 0 {
			some = append(some, g)
		}
	}
	if tags == 0 || len(some) == 0 {
		return d.createN(r)
	}
	g, k := some[int(r.who)%len(some)], int(r.kind)%len(d.list)
	for !tags.has(k) {
		k = (k + 1) % len(d.list)
	}
	one := kinds(1) << k
	c := change{add: one &^ g.set, remove: one & g.set}
	d.make(&c, r)
	list := slices.Clone(g.rows)
	return d.applyAll(r, list, c, func() (ecs.Batch, error) { return c.list(list) })
}
