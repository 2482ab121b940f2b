package edit

import (
	"fmt"
	"slices"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/world"
	"quarry/internal/store"
)

// Sparse types in a Change. They move no rows, so they have no part in its outcomes: its
// transaction makes room for rows and entries alike, then rows move, and then entries are added and
// removed.

// entryChange is a sparse type that a change adds or removes.
type entryChange struct {
	t      *world.Type
	remove bool
}

// takeSparse records a sparse type that is given in a part.
func (c *Change) takeSparse(t *world.Type, p *Part) {
	i := slices.IndexFunc(c.entries, func(e entryChange) bool { return e.t == t })
	switch {
	case i >= 0 && c.entries[i].remove != p.Remove:
		panic(fmt.Sprintf("ecs: NewChange: %s is added and removed", t.Name))
	case i >= 0:
		panic(fmt.Sprintf("ecs: NewChange: %s is given twice", t.Name))
	}
	c.entries = append(c.entries, entryChange{t, p.Remove})
	c.adds = c.adds || !p.Remove
}

// ChangesEntries reports whether the change adds or removes sparse types.
func (c *Change) ChangesEntries() bool { return len(c.entries) > 0 }

// expectEntries announces the entries that the change gives n entities.
func (c *Change) expectEntries(tx *change.Tx, n int) {
	for _, e := range c.entries {
		if !e.remove {
			tx.ExpectEntries(e.t, n)
		}
	}
}

// changesEntriesOf reports whether the change adds or removes an entry of the entity of a record.
func (c *Change) changesEntriesOf(r *entity.Record, e entity.ID) bool {
	return !c.World.DyingAt(r) && slices.ContainsFunc(c.entries, func(of entryChange) bool {
		return (of.t.Sparse.Find(e) != 0) == of.remove
	})
}

// enter adds and removes the entries of an entity. Entities that have ended, or that Cleanup types
// keep, get none. Added values are zero.
func (c *Change) enter(e entity.ID) {
	w := c.World
	r := w.IDs.Find(e)
	if r == nil || w.DyingAt(r) {
		return
	}
	for _, of := range c.entries {
		s := &of.t.Sparse.Set
		if of.remove {
			s.Remove(e, w.Tables.Version)
		} else if s.Find(e) == 0 {
			clear(BytesAt(of.t, s.Add(e, w.Tables.Version)))
		}
	}
}

// EnterList is enter for a list, after the caller has made room.
func (c *Change) EnterList(list []entity.ID) {
	for _, e := range list {
		c.enter(e)
	}
}

// enterListed applies a change of nothing but sparse types to a list: no row is selected, and the
// entries are added in the order of the list. It works on a copy, since the list may be the
// entities of a set that the change moves.
func (c *Change) enterListed(op string, list []entity.ID) error {
	w := c.World
	for i, e := range list {
		if c.adds && w.IDs.Find(e) == nil || e != world.Null && (e.IsPlaceholder() || e.Tag() != w.IDs.Tag()) {
			refuseListed(w, op, i, e)
		}
	}
	list = slices.Clone(list)
	if c.adds && w.Types.Cleanup != (world.Signature{}) {
		list = slices.DeleteFunc(list, func(e entity.ID) bool { return w.DyingAt(w.IDs.Find(e)) })
	}
	for _, of := range c.entries {
		if of.remove {
			continue
		}
		if err := of.t.MakeEntries(min(len(list), w.Living()-of.t.Sparse.Len())); err != nil {
			return world.WithOp(op, err)
		}
	}
	for _, of := range c.entries {
		if of.remove {
			of.t.Sparse.RemoveList(list, w.Tables.Version)
		} else {
			of.t.Sparse.AddList(list, w.Tables.Version)
		}
	}
	return nil
}

// entitiesOfParts appends the entities of the rows that a transaction has selected.
func entitiesOfParts(dst []entity.ID, tx *change.Tx) []entity.ID {
	for i := range tx.Parts {
		_ = tx.Parts[i].EachRow(func(at store.Row) error {
			dst = append(dst, *table.IDAt(at))
			return nil
		})
	}
	return dst
}

// switchEntries enables or disables the values of selected rows' entities.
func switchEntries(t *world.Type, tx *change.Tx, on bool) (n int) {
	for _, e := range entitiesOfParts(nil, tx) {
		if at := t.Sparse.Find(e); at != 0 {
			t.Sparse.Switch(at, on)
			t.Sparse.Mark(at, t.World.Tables.Version)
			n++
		}
	}
	return n
}

// SwitchList enables or disables the values of the entities of a list.
func SwitchList(t *world.Type, op string, list []entity.ID, on bool) int {
	t.CheckToggle(op)
	return switchEntries(t, SelectList(t.World, op, list, false), on)
}

// SwitchMatches enables or disables the values of the entities that match a query.
func SwitchMatches(t *world.Type, op string, q *query.Query, on bool) int {
	t.CheckToggle(op)
	CheckQuery(t.World, op, q)
	q.CheckLent(op, true)
	return switchEntries(t, SelectRows(q, op), on)
}
