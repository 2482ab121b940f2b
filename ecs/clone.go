package ecs

import (
	"cmp"
	"errors"
	"slices"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
)

// Clone creates a world with the same types, archetypes, entities and names. The entity 12v3 is
// 12v3 in the clone, see World.Entity; the same operations on both worlds yield the same ids and
// the same Hash. Queries, changes and other handles are not cloned; Register returns the handles of
// types. Shared and managed values are copied by Go assignment, those of managed types with
// CopyWith by its function; if it panics, there is no clone. Entities in components, buffers and
// shared values refer to entities of the clone. Everything is marked changed.
//
// Clone takes the same options as NewWorld. By default the clone has a universe of its own and w's
// ChunkGrowth. Clone only reads w, and panics inside a loop over rows; no goroutine may reserve ids
// of w meanwhile. An error wraps one from NewWorld or is a *LimitError, and leaves nothing behind.
// Cost: a copy of all rows, plus one word per link.
func (w *World) Clone(options ...Option) (*World, error) {
	return w.copied("World.Clone", false, options)
}

// fork is Clone, but the copy has w's tag: 12v3 of w is the same entity value as 12v3 of the copy,
// so each of the two worlds takes the other's entities as its own, and no call can tell whose they
// are. The tag is free again when both are closed.
func (w *World) fork(options ...Option) (*World, error) {
	return w.copied("World.fork", true, options)
}

// copied creates a copy of w, with w's tag or another.
func (w *World) copied(op string, sameTag bool, options []Option) (*World, error) {
	w.checkNew(op)
	w.checkUnlocked(op)
	checkOptions(op, options)
	c, err := NewWorld(append([]Option{ChunkGrowth(w.growth)}, options...)...)
	if err != nil {
		return nil, err
	}
	if own := w.ids.Tag(); sameTag {
		tags.Give(c.ids.Tag())
		tags.Share(own)
		c.ids.SetTag(own)
	}
	returned := false
	defer func() {
		if !returned {
			_ = c.Close() // a copy function has panicked
		}
	}()
	err = c.become(op, w)
	returned = true
	if err != nil {
		return nil, errors.Join(during(op, err), c.Close())
	}
	return c, nil
}

// become fills the new world c with the contents of w. On an error c is half filled, but sound
// enough to be closed.
func (c *World) become(op string, w *World) error {
	for _, t := range w.types.list[builtIn:] {
		c.register("World.Clone", t.copied())
	}
	c.copyManaged(op, w)
	if err := c.rows.Become(&w.rows); err != nil {
		return refused(err)
	}
	c.avoidTags(w)
	c.show(c.ids.View())
	c.tables.Version = w.tables.Version // before the copies, which are marked with it
	values := c.copyValues(w)
	for _, a := range w.archetypes.list {
		if err := c.copyArchetype(a, values); err != nil {
			return err
		}
	}
	if err := c.copySparse(w); err != nil {
		return err
	}
	c.copyNames(w)
	return nil
}

// avoidTags gives the new world c another tag if shared values of w name entities of a third world
// that had c's tag. Those entities are not retagged. With c's old tag they would look like copies
// of w's own entities, and two different values would become one.
func (c *World) avoidTags(w *World) {
	var named uint32
	for _, t := range w.types.list {
		if t.kind == KindShared {
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

// copyNames names c's entities as in w, in the order in which Named finds them.
func (c *World) copyNames(w *World) {
	for text := range w.names.Texts() {
		for _, e := range w.namedBy(text) { // Named finds the entity named last first
			c.SetName(Entity(e).in(c.ids.Tag()), text)
		}
	}
}

// copyValues returns copies of the shared values of w's archetypes, created in the same order.
func (c *World) copyValues(w *World) map[*value.Shared]*value.Shared {
	var all []*value.Shared
	for _, a := range w.archetypes.list {
		all = append(all, a.values...)
	}
	slices.SortFunc(all, value.CompareSerials)
	all = slices.Compact(all)
	copies := make(map[*value.Shared]*value.Shared, len(all))
	for _, v := range all {
		copies[v] = c.types.list[v.Type].shared.Copy(v, func(e *entity.ID) { e.Retag(w.ids.Tag(), c.ids.Tag()) })
	}
	return copies
}

// copyArchetype creates c's counterpart of an archetype of another world, with copies of its rows.
// Both worlds have the same types under the same numbers.
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

// copyRows copies the rows of an archetype of another world that has the same layout, along with
// the data that the rows own outside their chunks. It retags the entities in them. It handles the
// rows of one chunk at a time, while they are in the cache. On an error either all rows exist and
// are sound, with some of their buffers empty, or there are no rows.
func (a *Archetype) copyRows(from *Archetype) (err error) {
	w := a.w
	refusal := w.rows.CopyTable(from.table.Across(&a.table.Table, nil), w.ids.Tag(), func(b table.Run) {
		for _, c := range a.table.Buffers() {
			err = a.copySpills(from.w, b.At, c, len(b.IDs), err)
		}
		for _, c := range a.table.Managed() {
			if t := w.types.list[c.Key]; !t.copies() { // else the slots are the same, see copyManaged
				t.managed.Copy(from.w.types.list[c.Key].managed, value.SlotsAt(b.At, c, len(b.IDs)))
			}
		}
		for _, c := range a.table.Store.Columns() {
			if t := w.types.list[c.Key]; len(t.links) > 0 {
				t.retag(b.At.Element(c.Offset, c.Size), len(b.IDs), from.w.ids.Tag())
			}
		}
	})
	w.eachChunkLink(&a.table.Table, func(e *Entity) { (*entity.ID)(e).Retag(from.w.ids.Tag(), w.ids.Tag()) })
	return cmp.Or(err, refused(refusal))
}
