package delta

import (
	"quarry/bitmask"
	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/sparse"
	"quarry/ecs/internal/world"
)

// Walks of a delta by entity and type, of entities that are alive in both states: a type is gained,
// lost, or there in both and changed. So what differs of an entity's types comes once, in one of
// three walks; entities that are born or dead are in Born and Died.

// EachChanged yields what Changed does, with types instead of handles.
func (d *Delta) EachChanged(yield func(entity.ID, *world.Type) bool) {
	for i := range d.Tables {
		if !d.changedIn(&d.Tables[i], yield) {
			return
		}
	}
	for i := range d.Sparse {
		if !d.changedEntries(&d.Sparse[i], yield) {
			return
		}
	}
}

// EachGained yields what ecs.Delta.Gained does, with types instead of handles.
func (d *Delta) EachGained(yield func(entity.ID, *world.Type) bool) {
	d.eachOnly(func(from, to *world.Archetype) (of, than *world.Archetype) { return to, from }, d.Newer, d.Older, yield)
}

// EachLost yields what ecs.Delta.Lost does, with types instead of handles.
func (d *Delta) EachLost(yield func(entity.ID, *world.Type) bool) {
	d.eachOnly(func(from, to *world.Archetype) (of, than *world.Archetype) { return from, to }, d.Older, d.Newer, yield)
}

// eachOnly yields the entities with the types that they have in one state and not in the other. in
// says which of two archetypes is of the one state, and which of the other.
func (d *Delta) eachOnly(in func(from, to *world.Archetype) (of, than *world.Archetype), one, other *world.World,
	yield func(entity.ID, *world.Type) bool) {
	more := d.EachMoved(func(e entity.ID, from, to *world.Archetype) bool {
		of, than := in(from, to)
		for _, id := range of.Table.Types {
			if !than.Table.Sig.Has(id) && !yield(e, d.Newer.Types.List[id]) {
				return false
			}
		}
		return true
	})
	for i := range d.Sparse {
		t := d.types[d.Sparse[i].of].T
		has, lacks := sparseLike(one, t), sparseLike(other, t)
		for at := 0; more && has != nil && at < has.Len(); at++ {
			e := has.IDs()[at]
			if (lacks == nil || lacks.Find(e) == 0) && other.Find(e) != nil {
				more = yield(e, t)
			}
		}
	}
}

// ValueNumbered returns e's value of a type by its number; nil if e or the world lacks it.
func ValueNumbered(w *world.World, op string, e entity.ID, id world.TypeID) any {
	r := w.RecordOf(op, e)
	if r == nil || int(id) >= len(w.Types.List) {
		return nil
	}
	t := w.Types.List[id]
	if t.Kind == world.KindManaged && t.Live != nil && !t.Copies() {
		return nil // a snapshot does not have it
	}
	return w.ValueOf(r, e, t)
}

// changedIn yields what Changed does for one table.
func (d *Delta) changedIn(t *deltaTable, yield func(entity.ID, *world.Type) bool) bool {
	more := true
	of := func(id int) func(first, n int) {
		of := d.types[id].T
		had, all := d.had(t, d.types[id].T.ID)
		return func(first, n int) {
			for row := first; more && row < first+n; row++ {
				if all || had.Has(row) {
					more = yield(entityAt(t.a, row), of)
				}
			}
		}
	}
	for i := range t.columns {
		c := &t.columns[i]
		c.rowSpans(d.types[c.of].T.Size, t.is, of(c.of))
	}
	for i := range t.buffers {
		b, visit := &t.buffers[i], of(t.buffers[i].of)
		b.each(t.is, d.types[b.of].T.Shape.Element, func(e bufferEdit) { visit(e.row, 1) })
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
func (d *Delta) had(t *deltaTable, id world.TypeID) (rows bitmask.Bits, all bool) {
	all = true
	has := func(r deltaRun) bool { return r.from >= 0 && d.Tables[r.from].old.Table.Sig.Has(id) }
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
			c.rowSpans(d.types[of].T.Size, t.is, mark)
		}
	}
	for i := range t.buffers {
		if b := &t.buffers[i]; b.of == of {
			b.each(t.is, d.types[of].T.Shape.Element, func(e bufferEdit) { mark(e.row, 1) })
		}
	}
	return rows
}

// changedEntries yields what Changed does for one sparse type.
func (d *Delta) changedEntries(s *deltaSparse, yield func(entity.ID, *world.Type) bool) bool {
	t := d.types[s.of].T
	older := sparseLike(d.Older, t)
	if older == nil {
		return true
	}
	for at, e := range t.Sparse.IDs() {
		entry, was := sparse.Entry(at+1), older.Find(e)
		if was == 0 || t.Sparse.Enabled(entry) == older.Enabled(was) &&
			string(edit.BytesAt(t, t.Sparse.Value(entry))) == string(edit.BytesAt(t, older.Value(was))) {
			continue
		}
		if !yield(e, t) {
			return false
		}
	}
	return true
}
