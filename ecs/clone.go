package ecs

import (
	"cmp"
	"errors"
	"slices"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
)

// Clone makes a world with the same types, archetypes, entities and names: the entity 12v3 is 12v3
// in the clone, see World.Entity, and the same operations on both give the same ids, and the same
// Hash. Queries, changes and other handles are made anew, Register gives those of the types. Values
// that are shared or managed are copied as Go assigns them; entities in components, buffers and
// shared values name those of the clone. All is marked changed. The options are those of NewWorld:
// the clone has a universe of its own unless WithUniverse is given, and w's ChunkGrowth. It reads
// w, and panics during iteration; no goroutine may reserve ids of w meanwhile. An error wraps those
// of NewWorld or is a *LimitError, and nothing is left then. Cost: a copy of all rows, and a word
// for each link.
func (w *World) Clone(options ...Option) (*World, error) {
	const op = "World.Clone"
	w.checkNew(op)
	w.checkUnlocked(op)
	checkOptions(op, options)
	c, err := NewWorld(append([]Option{ChunkGrowth(w.growth)}, options...)...)
	if err != nil {
		return nil, err
	}
	if err := c.become(w); err != nil {
		return nil, errors.Join(during(op, err), c.Close())
	}
	return c, nil
}

// become fills a world that is new with what another has. On an error it is half filled, and sound
// enough to be closed.
func (c *World) become(w *World) error {
	for _, t := range w.types.list[builtIn:] {
		c.register("World.Clone", t.copied())
	}
	if err := c.rows.Become(&w.rows); err != nil {
		return refused(err)
	}
	c.avoidTags(w)
	c.showRecords()
	values := c.copyValues(w)
	for _, a := range w.archetypes.list {
		if err := c.copyArchetype(a, values); err != nil {
			return err
		}
	}
	if w.names != nil {
		c.copyNames(w)
	}
	c.tables.Version = w.tables.Version
	return nil
}

// avoidTags gives a world that is new another tag when shared values of w, which it becomes a copy
// of, name entities of a world that had the same. Those stay as they are, and could be told no more
// from w's own: two values would become one.
func (c *World) avoidTags(w *World) {
	var named uint32
	for _, t := range w.types.list {
		if t.shared != nil {
			t.shared.Entities(func(e entity.ID) {
				if e != (entity.ID{}) {
					named |= 1 << e.Tag().Number()
				}
			})
		}
	}
	if own, tag := w.ids.Tag(), c.ids.Tag(); tag != own && named>>tag.Number()&1 != 0 {
		tags.Give(tag)
		c.ids.SetTag(tags.Take(named &^ (1 << own.Number())))
	}
}

// copyNames gives entities the names of those of another world, in the order in which Named finds
// them.
func (c *World) copyNames(w *World) {
	for text, n := range w.names.byText {
		var same []Entity
		for ; n != nil; n = n.next {
			same = append(same, n.e)
		}
		for i := len(same) - 1; i >= 0; i-- { // the one that got it last is found first
			c.SetName(same[i].in(c.ids.Tag()), text)
		}
	}
}

// copyValues returns copies of the values that archetypes of another world have, which came in the
// same order.
func (c *World) copyValues(w *World) map[*value.Shared]*value.Shared {
	all := slices.SortedFunc(w.sharedValues(), value.CompareSerials)
	copies := make(map[*value.Shared]*value.Shared, len(all))
	for _, v := range all {
		copies[v] = c.types.list[v.Type].shared.Copy(v, func(e *entity.ID) { e.Retag(w.ids.Tag(), c.ids.Tag()) })
	}
	return copies
}

// copyArchetype makes the archetype of the same types and values as one of another world, with
// copies of its rows. Both worlds have the same types under the same numbers.
func (c *World) copyArchetype(from *Archetype, copies map[*value.Shared]*value.Shared) error {
	var values []*value.Shared
	for _, v := range from.values {
		values = append(values, copies[v])
	}
	to, err := c.archetypeOf(from.table.Sig, values)
	if err != nil {
		return err
	}
	to.pinned = from.pinned
	if from.table.Store.Len() == 0 {
		return nil
	}
	if !from.table.HasOwnLayout() {
		to.table.UseLayout(&from.table.Table, nil)
	}
	return to.copyRows(from)
}

// copyRows copies the rows of an archetype of another world, with the same layout and what they own
// outside their chunks, and makes them name entities of their world. It does all of it for the rows
// of one chunk at a time, while they are in the cache. On an error all rows are there and sound,
// and some of their buffers empty, or there are no rows.
func (a *Archetype) copyRows(from *Archetype) (err error) {
	w := a.w
	refusal := w.rows.CopyTable(from.table.Across(&a.table.Table, nil), w.ids.Tag(), func(b table.Run) {
		for _, c := range a.table.Buffers() {
			err = a.copySpills(from.w, b.At, c, len(b.IDs), err)
		}
		for _, c := range a.table.Managed() {
			w.types.list[c.Key].managed.Copy(from.w.types.list[c.Key].managed, value.SlotsAt(b.At, c, len(b.IDs)))
		}
		for _, c := range a.table.Store.Columns() {
			if t := w.types.list[c.Key]; len(t.links) > 0 {
				t.retag(b.At.Element(c.Offset, c.Size), len(b.IDs), from.w.ids.Tag())
			}
		}
	})
	return cmp.Or(err, refused(refusal))
}
