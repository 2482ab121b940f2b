package edit

import (
	"unsafe"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/sparse"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/world"
	"quarry/internal/store"
)

// Entries of sparse types where entities are copied: to copies in the same world, to a clone, and
// to another world. Room for all entries is made before anything changes.

// BytesAt views the value of an entry as bytes.
func BytesAt(t *world.Type, p unsafe.Pointer) []byte {
	return unsafe.Slice((*byte)(p), t.Size) // Safe because a value of the type lies there.
}

// expectCopies announces the entries that the copies of several instantiations get. It costs
// nothing in a world without sparse types.
func expectCopies(tx *change.Tx, w *world.World, all []copying) {
	for _, t := range w.Types.Sparse {
		for i := range all {
			for _, m := range all[i].members {
				if t.Sparse.Find(m.e) != 0 {
					tx.ExpectEntries(t, all[i].n)
				}
			}
		}
	}
}

// fillEntries gives the copies the entries of their members. Entity values in them that refer to a
// member refer to its copy.
func (c *copying) fillEntries() {
	for _, t := range c.w.Types.Sparse {
		s := &t.Sparse.Set
		for m := range c.members {
			from := s.Find(c.members[m].e)
			if from == 0 || c.members[m].to.CleanupOnly { // commands may have destroyed the copies
				continue
			}
			for i, e := range c.ids[m*c.n : (m+1)*c.n] {
				to := s.Add(e, c.w.Tables.Version)
				copy(BytesAt(t, to), BytesAt(t, s.Value(from)))
				if !s.Enabled(from) {
					s.Switch(s.Find(e), false)
				}
				world.EachEntity(t.Links, to, 1, 0, func(e *entity.ID) {
					if member, ok := c.memberOf(*e); ok {
						*e = c.ids[member*c.n+i]
					}
				})
			}
		}
	}
}

// copySparse copies the entries of all sparse types of w to the new world c, which has the same
// types and ids.
func copySparse(c *world.World, w *world.World) error {
	for i, t := range w.Types.Sparse {
		if t.Sparse.Len() == 0 {
			continue
		}
		to := c.Types.Sparse[i]
		if err := to.MakeEntries(t.Sparse.Len()); err != nil {
			return err
		}
		for at, e := range t.Sparse.IDs() {
			from := sparse.Entry(at + 1)
			p := to.Sparse.Add(e.In(c.IDs.Tag()), c.Tables.Version)
			copy(BytesAt(to, p), BytesAt(t, t.Sparse.Value(from)))
			if !t.Sparse.Enabled(from) {
				to.Sparse.Switch(from, false)
			}
		}
		world.Retag(to.Links, to.Sparse.Value(1), to.Sparse.Len(), uintptr(to.Size), w.IDs.Tag(), c.IDs.Tag())
	}
	return nil
}

// sparseTransfer is the move of entries of one type to another world.
type sparseTransfer struct {
	from, to *world.Type
}

// aimSparse finds the sets to which entries of the selected rows move, whose types are registered,
// and has the transaction make room there.
func (m *migration) aimSparse(selected *change.Tx) {
	for _, t := range m.from.Types.Sparse {
		n := m.countEntries(t, selected)
		if n == 0 {
			continue
		}
		id, _ := m.w.Types.Find(t.Key())
		to := m.w.Types.List[id]
		m.tx.ExpectEntries(to, n)
		m.sparse = append(m.sparse, sparseTransfer{t, to})
	}
}

// countEntries returns how many of the selected rows have a sparse type.
func (m *migration) countEntries(t *world.Type, selected *change.Tx) (n int) {
	if t.Sparse.Len() == 0 {
		return 0
	}
	for i := range selected.Parts {
		_ = selected.Parts[i].EachRow(func(at store.Row) error {
			if t.Sparse.Find(*table.IDAt(at)) != 0 {
				n++
			}
			return nil
		})
	}
	return n
}

// run moves the entries of entities that have new ids.
func (r *sparseTransfer) run(old, to []entity.ID) {
	from, set := &r.from.Sparse.Set, &r.to.Sparse.Set
	for i, e := range old {
		at := from.Find(e)
		if at == 0 {
			continue
		}
		p := set.Add(to[i], r.to.World.Tables.Version)
		copy(BytesAt(r.to, p), BytesAt(r.from, from.Value(at)))
		if !from.Enabled(at) {
			set.Switch(set.Find(to[i]), false)
		}
		from.Remove(e, r.from.World.Tables.Version)
	}
}

// eachLink calls visit for each entity in the entries of rows that have come.
func (r *sparseTransfer) eachLink(rows change.TableRange, visit func(*entity.ID)) {
	if len(r.to.Links) == 0 {
		return
	}
	g := &rows.Table.Store
	pos, row := g.Find(rows.Start)
	for left := rows.N; left > 0; pos, row = pos+1, 0 {
		k := min(left, g.RowsOf(pos)-row)
		for _, e := range table.IDs(g.Row(pos, 0).Base, row+k)[row:] {
			if p := r.to.Sparse.At(e); p != nil {
				world.EachEntity(r.to.Links, p, 1, 0, visit)
			}
		}
		left -= k
	}
}
