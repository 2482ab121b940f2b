package ecs

import (
	"iter"

	"quarry/bitmask"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/sparse"
)

// Walks of a delta by entity and type, of entities that are alive in both states: a type is gained,
// lost, or there in both and changed. So what differs of an entity's types comes once, in one of
// three walks; entities that are born or dead are in Born and Died.

// Changed yields each entity with each type that it has in both states and of which it has other
// bytes, elements or another enable bit than before, once. Types that it did not have before are
// in Gained, whatever their values, and those that it no longer has in Lost. Values of chunk types
// are not among them, nor values that are shared: with another one an entity has moved. The types
// are handles as those of ComponentInfo.Type, of the world that took the snapshots.
func (d *Delta) Changed() iter.Seq2[Entity, Type] {
	d.checkWalk("Delta.Changed")
	return func(yield func(Entity, Type) bool) {
		for i := range d.tables {
			if !d.changedIn(&d.tables[i], yield) {
				return
			}
		}
		for i := range d.sparse {
			if !d.changedEntries(&d.sparse[i], yield) {
				return
			}
		}
	}
}

// Gained yields each entity that is alive in both states with each type that it has in the newer
// one alone, of every kind; Values tells the value. Types are as those of Changed.
func (d *Delta) Gained() iter.Seq2[Entity, Type] {
	d.checkWalk("Delta.Gained")
	return func(yield func(Entity, Type) bool) {
		d.eachOnly(func(from, to *Archetype) (of, than *Archetype) { return to, from }, d.newer, d.older, yield)
	}
}

// Lost yields each entity that is alive in both states with each type that it has in the older one
// alone, of every kind; Values tells the value. Types are as those of Changed.
func (d *Delta) Lost() iter.Seq2[Entity, Type] {
	d.checkWalk("Delta.Lost")
	return func(yield func(Entity, Type) bool) {
		d.eachOnly(func(from, to *Archetype) (of, than *Archetype) { return from, to }, d.older, d.newer, yield)
	}
}

// eachOnly yields the entities with the types that they have in one state and not in the other. in
// says which of two archetypes is of the one state, and which of the other.
func (d *Delta) eachOnly(in func(from, to *Archetype) (of, than *Archetype), one, other *World, yield func(Entity, Type) bool) {
	more := d.eachMoved(func(e Entity, from, to *Archetype) bool {
		of, than := in(from, to)
		for _, id := range of.table.Types {
			if !than.table.Sig.Has(id) && !yield(e, d.newer.types.list[id].handle()) {
				return false
			}
		}
		return true
	})
	for i := range d.sparse {
		t := d.types[d.sparse[i].of].t
		has, lacks := one.sparseLike(t), other.sparseLike(t)
		for at := 0; more && has != nil && at < has.Len(); at++ {
			e := has.IDs()[at]
			if (lacks == nil || lacks.Find(e) == 0) && other.find(Entity(e)) != nil {
				more = yield(Entity(e), t.handle())
			}
		}
	}
}

// Values returns copies of e's value of a type in the older and in the newer state, as World.Value
// does: nil in a state in which e is not alive or lacks the type, and of a managed type without
// CopyWith. It panics as walks do, and for an entity or a type of another world. Cost: reflection,
// and allocations.
func (d *Delta) Values(e Entity, t Type) (was, is any) {
	const op = "Delta.Values"
	d.checkWalk(op)
	info, of := infoOf(op, t), d.newer
	if live := of.types.list[0].live; live != nil {
		of = live.w
	}
	of.checkOwn(op, info)
	return d.older.valueNumbered(op, e, info.id), d.newer.valueNumbered(op, e, info.id)
}

// valueNumbered returns e's value of a type by its number; nil if e or the world lacks it.
func (w *World) valueNumbered(op string, e Entity, id typeID) any {
	r := w.recordOf(op, e)
	if r == nil || int(id) >= len(w.types.list) {
		return nil
	}
	t := w.types.list[id]
	if t.kind == KindManaged && t.live != nil && !t.copies() {
		return nil // a snapshot does not have it
	}
	return w.valueOf(r, e, t)
}

// changedIn yields what Changed does for one table.
func (d *Delta) changedIn(t *deltaTable, yield func(Entity, Type) bool) bool {
	more := true
	of := func(id int) func(first, n int) {
		handle := d.types[id].t.handle()
		had, all := d.had(t, d.types[id].t.id)
		return func(first, n int) {
			for row := first; more && row < first+n; row++ {
				if all || had.Has(row) {
					more = yield(t.a.entityAt(row), handle)
				}
			}
		}
	}
	for i := range t.columns {
		c := &t.columns[i]
		c.rowSpans(d.types[c.of].t.size, t.is, of(c.of))
	}
	for i := range t.buffers {
		b, visit := &t.buffers[i], of(t.buffers[i].of)
		b.each(t.is, d.types[b.of].t.shape.Element, func(e bufferEdit) { visit(e.row, 1) })
	}
	for i := range t.flips {
		visit, valued := of(t.flips[i].of), d.valued(t, t.flips[i].of)
		t.flips[i].each(t.is, func(at, n int, _ bool) {
			for row := at; row < at+n; row++ {
				if valued == nil || !valued.Has(row) {
					visit(row, 1)
				}
			}
		})
	}
	return more
}

// had returns the rows of a table whose entities had a type in the older state, and whether all
// had it; then there is no list.
func (d *Delta) had(t *deltaTable, id typeID) (rows bitmask.Bits, all bool) {
	all = true
	has := func(r deltaRun) bool { return r.from >= 0 && d.tables[r.from].old.table.Sig.Has(id) }
	for _, r := range t.rows {
		all = all && has(r)
	}
	if all {
		return nil, true
	}
	rows = make(bitmask.Bits, (t.is+63)/64)
	at := 0
	for _, r := range t.rows {
		if has(r) {
			rows.SetRange(at, r.n)
		}
		at += r.n
	}
	return rows, false
}

// valued returns the rows of a table that have other values or elements of a type, so that those
// with another enable bit too do not come twice; nil if there are none.
func (d *Delta) valued(t *deltaTable, of int) (rows bitmask.Bits) {
	mark := func(first, n int) {
		if rows == nil {
			rows = make(bitmask.Bits, (t.is+63)/64)
		}
		rows.SetRange(first, n)
	}
	for i := range t.columns {
		if c := &t.columns[i]; c.of == of {
			c.rowSpans(d.types[of].t.size, t.is, mark)
		}
	}
	for i := range t.buffers {
		if b := &t.buffers[i]; b.of == of {
			b.each(t.is, d.types[of].t.shape.Element, func(e bufferEdit) { mark(e.row, 1) })
		}
	}
	return rows
}

// changedEntries yields what Changed does for one sparse type.
func (d *Delta) changedEntries(s *deltaSparse, yield func(Entity, Type) bool) bool {
	t := d.types[s.of].t
	older := d.older.sparseLike(t)
	if older == nil {
		return true
	}
	handle := t.handle()
	for at, e := range t.sparse.IDs() {
		entry, was := sparse.Entry(at+1), older.Find(e)
		if was == 0 || t.sparse.Enabled(entry) == older.Enabled(was) &&
			string(t.bytesAt(t.sparse.Value(entry))) == string(t.bytesAt(older.Value(was))) {
			continue
		}
		if !yield(Entity(entity.ID(e)), handle) {
			return false
		}
	}
	return true
}
