package world

import (
	"cmp"
	"errors"
	"slices"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
)

// Copied creates a copy of w, with w's tag or another. given sets what its options give.
func (w *World) Copied(op string, sameTag bool, given func(*World)) (*World, error) {
	w.CheckNew(op)
	w.CheckUnlocked(op)
	c, err := NewWorld(func(c *World) {
		c.Growth = w.Growth
		given(c)
	})
	if err != nil {
		return nil, err
	}
	if own := w.IDs.Tag(); sameTag {
		Tags.Give(c.IDs.Tag())
		Tags.Share(own)
		c.IDs.SetTag(own)
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
		return nil, errors.Join(During(op, err), c.Close())
	}
	return c, nil
}

// become fills the new world c with the contents of w. On an error c is half filled, but sound
// enough to be closed.
func (c *World) become(op string, w *World) error {
	for _, t := range w.Types.List[BuiltIn:] {
		c.Register("World.Clone", t.copied())
	}
	c.copyManaged(op, w)
	if err := c.Rows.Become(&w.Rows); err != nil {
		return Refused(err)
	}
	c.avoidTags(w)
	c.show(c.IDs.View())
	c.Tables.Version = w.Tables.Version // before the copies, which are marked with it
	values := c.copyValues(w)
	for _, a := range w.Archetypes.List {
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
	for _, t := range w.Types.List {
		if t.Kind == KindShared {
			t.Shared.Entities(func(e entity.ID) {
				if e != (entity.ID{}) {
					named |= 1 << e.Tag().Number()
				}
			})
		}
	}
	if own, tag := w.IDs.Tag(), c.IDs.Tag(); tag != own && named>>tag.Number()&1 != 0 {
		Tags.Give(tag)
		c.IDs.SetTag(Tags.Take(named &^ (1 << own.Number())))
	}
}

// copyNames names c's entities as in w, in the order in which Named finds them.
func (c *World) copyNames(w *World) {
	for text := range w.Names.Texts() {
		for _, e := range w.namedBy(text) { // Named finds the entity named last first
			c.SetName(e.In(c.IDs.Tag()), text)
		}
	}
}

// copyValues returns copies of the shared values of w's archetypes, created in the same order.
func (c *World) copyValues(w *World) map[*value.Shared]*value.Shared {
	var all []*value.Shared
	for _, a := range w.Archetypes.List {
		all = append(all, a.Values...)
	}
	slices.SortFunc(all, value.CompareSerials)
	all = slices.Compact(all)
	copies := make(map[*value.Shared]*value.Shared, len(all))
	for _, v := range all {
		copies[v] = c.Types.List[v.Type].Shared.Copy(v, func(e *entity.ID) { e.Retag(w.IDs.Tag(), c.IDs.Tag()) })
	}
	return copies
}

// copyArchetype creates c's counterpart of an archetype of another world, with copies of its rows.
// Both worlds have the same types under the same numbers.
func (c *World) copyArchetype(from *Archetype, copies map[*value.Shared]*value.Shared) error {
	var values []*value.Shared
	for _, v := range from.Values {
		values = append(values, copies[v])
	}
	to, err := c.ArchetypeOf(from.Table.Sig, values)
	if err != nil {
		return err
	}
	to.Pinned = from.Pinned
	if from.Table.Store.Len() == 0 {
		return nil
	}
	if !from.Table.HasOwnLayout() {
		to.Table.UseLayout(&from.Table.Table, nil)
	}
	return to.copyRows(from)
}

// copyRows copies the rows of an archetype of another world that has the same layout, along with
// the data that the rows own outside their chunks. It retags the entities in them. It handles the
// rows of one chunk at a time, while they are in the cache. On an error either all rows exist and
// are sound, with some of their buffers empty, or there are no rows.
func (a *Archetype) copyRows(from *Archetype) (err error) {
	w := a.World
	refusal := w.Rows.CopyTable(from.Table.Across(&a.Table.Table, nil), w.IDs.Tag(), func(b table.Run) {
		for _, c := range a.Table.Buffers() {
			err = a.copySpills(from.World, b.At, c, len(b.IDs), err)
		}
		for _, c := range a.Table.Managed() {
			if t := w.Types.List[c.Key]; !t.Copies() { // else the slots are the same, see copyManaged
				t.Managed.Copy(from.World.Types.List[c.Key].Managed, value.SlotsAt(b.At, c, len(b.IDs)))
			}
		}
		for _, c := range a.Table.Store.Columns() {
			if t := w.Types.List[c.Key]; len(t.links) > 0 {
				t.retag(b.At.Element(c.Offset, c.Size), len(b.IDs), from.World.IDs.Tag())
			}
		}
	})
	w.eachChunkLink(&a.Table.Table, func(e *entity.ID) { e.Retag(from.World.IDs.Tag(), w.IDs.Tag()) })
	return cmp.Or(err, Refused(refusal))
}
