package edit

import (
	"cmp"
	"errors"
	"slices"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// Copied creates a copy of w, with w's tag or another. given applies its options.
func Copied(w *world.World, op string, sameTag bool, given func(*world.World)) (*world.World, error) {
	w.CheckNew(op)
	w.CheckUnlocked(op)
	c, err := world.NewWorld(func(c *world.World) {
		c.Growth = w.Growth
		given(c)
	})
	if err != nil {
		return nil, err
	}
	if own := w.IDs.Tag(); sameTag {
		world.Tags.Free(c.IDs.Tag())
		world.Tags.Share(own)
		c.IDs.SetTag(own)
	}
	returned := false
	defer func() {
		if !returned {
			_ = c.Close() // a copy function has panicked
		}
	}()
	err = copyWorld(c, op, w)
	returned = true
	if err != nil {
		return nil, errors.Join(world.WithOp(op, err), c.Close())
	}
	return c, nil
}

// copyWorld fills the new world c with the contents of w. On an error c is half filled, but sound
// enough to be closed.
func copyWorld(c *world.World, op string, w *world.World) error {
	x := cloning{c: c, w: w, op: op}
	for _, part := range cloneOrder {
		if err := clones[part].do(&x); err != nil {
			return err
		}
	}
	return nil
}

// avoidTags gives the new world c another tag if shared values of w name entities of a third world
// that had c's tag. Those entities are not retagged. With c's old tag they would look like copies
// of w's own entities, and two different values would become one.
func avoidTags(c *world.World, w *world.World) {
	var named uint32
	for _, t := range w.Types.List {
		if t.Kind == world.KindShared {
			t.Shared.Entities(func(e entity.ID) {
				if e != (entity.ID{}) {
					named |= 1 << e.Tag().Number()
				}
			})
		}
	}
	if own, tag := w.IDs.Tag(), c.IDs.Tag(); tag != own && named>>tag.Number()&1 != 0 {
		world.Tags.Free(tag)
		c.IDs.SetTag(world.Tags.Take(named &^ (1 << own.Number())))
	}
}

// copyNames names c's entities as in w, in the order in which Named finds them.
func copyNames(c *world.World, w *world.World) {
	for text := range w.Names.Texts() {
		for _, e := range w.NamedBy(text) { // Named finds the entity named last first
			c.SetName(e.In(c.IDs.Tag()), text)
		}
	}
}

// copyValues returns copies of the shared values of w's archetypes, created in the same order.
func copyValues(c *world.World, w *world.World) map[*value.Shared]*value.Shared {
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
func copyArchetype(c *world.World, from *world.Archetype, copies map[*value.Shared]*value.Shared) error {
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
	return copyRows(to, from)
}

// copyRows copies the rows of an archetype of another world that has the same layout, along with
// the data that the rows own outside their chunks. It retags the entities in them. It handles the
// rows of one chunk at a time, while they are in the cache. On an error either all rows exist and
// are sound, with some of their buffers empty, or there are no rows.
func copyRows(a *world.Archetype, from *world.Archetype) (err error) {
	w := a.World
	refusal := w.Writer.CopyTable(from.Table.ToWorld(&a.Table.Table, nil), w.IDs.Tag(), func(b table.Run) {
		for _, c := range a.Table.Buffers() {
			err = a.CopySpills(from.World, b.At, c, len(b.IDs), err)
		}
		for _, c := range a.Table.Managed() {
			if t := w.Types.List[c.Key]; !t.Copies() { // else the slots are the same, see copyManaged
				t.Managed.Copy(from.World.Types.List[c.Key].Managed, value.SlotsAt(b.At, c, len(b.IDs)))
			}
		}
		for _, c := range a.Table.Store.Columns() {
			if t := w.Types.List[c.Key]; len(t.Links) > 0 {
				t.Retag(b.At.Element(c.Offset, c.Size), len(b.IDs), from.World.IDs.Tag())
			}
		}
	})
	w.EachChunkLink(&a.Table.Table, func(e *entity.ID) { e.Retag(from.World.IDs.Tag(), w.IDs.Tag()) })
	return cmp.Or(err, world.LimitErrorOf(refusal))
}

// copyManaged makes copies of another world's managed values, with the same slots, before there are
// rows.
func copyManaged(w *world.World, op string, from *world.World) {
	if len(from.Types.Copied) == 0 {
		return
	}
	from.Loops.Enter(op)
	defer from.Loops.Leave()
	for _, t := range from.Types.Copied {
		t.Managed.Save(w.Types.List[t.ID].Managed)
	}
}
