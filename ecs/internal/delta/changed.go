package delta

import (
	"quarry/bitmask"
	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/sparse"
	"quarry/ecs/internal/world"
)

// Walks over entities that are alive in both states, by entity and type. A type is gained, lost, or
// present in both states and changed, so each difference comes in exactly one of three walks. Born
// and Died yield the other entities.

// EachChanged is ecs.Delta.Changed with types instead of handles.
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

// EachGained is ecs.Delta.Gained with types instead of handles.
func (d *Delta) EachGained(yield func(entity.ID, *world.Type) bool) {
	d.eachOnly(func(from, to *world.Archetype) (of, than *world.Archetype) { return to, from }, d.Newer, d.Older, yield)
}

// EachLost is ecs.Delta.Lost with types instead of handles.
func (d *Delta) EachLost(yield func(entity.ID, *world.Type) bool) {
	d.eachOnly(func(from, to *world.Archetype) (of, than *world.Archetype) { return from, to }, d.Older, d.Newer, yield)
}

// eachOnly yields entities with the types that they have in one state and lack in the other. in
// orders two archetypes: first the one with the types.
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
		return nil // snapshots do not keep these values
	}
	return w.ValueOf(r, e, t)
}

// changedIn yields the changes in one table.
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
		c.rowSpans(d.types[c.of].T.Size, t.newer, of(c.of))
	}
	for i := range t.buffers {
		b, visit := &t.buffers[i], of(t.buffers[i].of)
		b.each(t.newer, d.types[b.of].T.Shape.Element, func(e bufferEdit) { visit(e.row, 1) })
	}
	for i := range t.flips {
		visit, valued := of(t.flips[i].of), d.valued(t, t.flips[i].of)
		t.flips[i].each(t.newer, func(at, n int, _ bool) {
			for row := at; row < at+n; row++ {
				if valued == nil || !valued.Has(row) {
					visit(row, 1)
				}
			}
		})
	}
	return more
}

// had returns the rows of a table whose entities had a type in the older state. If all had it, it
// returns true and no list.
func (d *Delta) had(t *deltaTable, id world.TypeID) (rows bitmask.Bits, all bool) {
	all = true
	has := func(r rowsFrom) bool { return r.from >= 0 && d.Tables[r.from].old.Table.Sig.Has(id) }
	for _, r := range t.rows {
		all = all && has(r)
	}
	if all {
		return nil, true
	}
	rows = make(bitmask.Bits, (t.newer+63)/64)
	at := 0
	for _, r := range t.rows {
		if has(r) {
			rows.SetRange(at, r.n)
		}
		at += r.n
	}
	return rows, false
}

// valued returns the rows of a table whose values or elements of a type differ, so that a row whose
// enable bit differs too is yielded once. It returns nil without such rows.
func (d *Delta) valued(t *deltaTable, of int) (rows bitmask.Bits) {
	mark := func(first, n int) {
		if rows == nil {
			rows = make(bitmask.Bits, (t.newer+63)/64)
		}
		rows.SetRange(first, n)
	}
	for i := range t.columns {
		if c := &t.columns[i]; c.of == of {
			c.rowSpans(d.types[of].T.Size, t.newer, mark)
		}
	}
	for i := range t.buffers {
		if b := &t.buffers[i]; b.of == of {
			b.each(t.newer, d.types[of].T.Shape.Element, func(e bufferEdit) { mark(e.row, 1) })
		}
	}
	return rows
}

// changedEntries yields the changes of one sparse type.
func (d *Delta) changedEntries(s *deltaSparse, yield func(entity.ID, *world.Type) bool) bool {
	t := d.types[s.of].T
	older := sparseLike(d.Older, t)
	if older == nil {
		return true
	}
	for at, e := range t.Sparse.IDs() {
		entry, before := sparse.Entry(at+1), older.Find(e)
		if before == 0 || t.Sparse.Enabled(entry) == older.Enabled(before) &&
			string(edit.BytesAt(t, t.Sparse.Value(entry))) == string(edit.BytesAt(t, older.Value(before))) {
			continue
		}
		if !yield(e, t) {
			return false
		}
	}
	return true
}
