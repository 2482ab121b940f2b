package edit

import (
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// What cloning a world, and moving entities to another one, do for each part of a world; see
// world.Part.

// cloning is a clone under way: c becomes a copy of w.
type cloning struct {
	c, w   *world.World
	op     string
	values map[*value.Shared]*value.Shared
}

// clones is what Clone does for each part.
var clones = [...]struct {
	do      func(x *cloning) error
	because string
}{
	{(*cloning).types, ""},
	{func(x *cloning) error { x.values = copyValues(x.c, x.w); return nil }, ""},
	{(*cloning).archetypes, ""},
	{nil, "with the archetypes"},
	{nil, "with the archetypes"},
	{nil, "with the archetypes"},
	{func(x *cloning) error { copyManaged(x.c, x.op, x.w); return nil }, ""},
	{(*cloning).ids, ""},
	{func(x *cloning) error { copyNames(x.c, x.w); return nil }, ""},
	{func(x *cloning) error { return copySparse(x.c, x.w) }, ""},
	{func(x *cloning) error { x.c.Tables.Version = x.w.Tables.Version; return nil }, ""},
}

var _ = [1]struct{}{}[len(clones)-int(world.PartCount)] // each part has an entry

// cloneOrder has managed values and ids before there are rows, and the version before the copies,
// which are marked with it.
var cloneOrder = [...]world.Part{world.PartTypes, world.PartManaged, world.PartIDs, world.PartCounters,
	world.PartValues,
	world.PartArchetypes, world.PartSparse, world.PartNames}

func (x *cloning) types() error {
	for _, t := range x.w.Types.List[world.BuiltIn:] {
		x.c.Register("World.Clone", t.Copied())
	}
	return nil
}

func (x *cloning) archetypes() error {
	for _, a := range x.w.Archetypes.List {
		if err := copyArchetype(x.c, a, x.values); err != nil {
			return err
		}
	}
	return nil
}

func (x *cloning) ids() error {
	if err := x.c.Writer.CopyFrom(&x.w.Writer); err != nil {
		return world.LimitErrorOf(err)
	}
	avoidTags(x.c, x.w)
	x.c.SetLookupRecords(x.c.IDs.View())
	return nil
}

// moves is what MoveAll and MoveQuery do for each part, after the types are registered, which takes
// no lock of the worlds.
var moves = [...]struct {
	do      func(m *migration) error
	because string
}{
	{nil, "registerAll, before the worlds are locked"},
	{nil, "with the archetypes"},
	{(*migration).reserve, ""},
	{(*migration).moveTransfers, ""},
	{nil, "with the rows"},
	{nil, "blocks are reserved with the archetypes and moved with the rows"},
	{nil, "with the rows"},
	{nil, "with the rows: migration.noteArrivals"},
	{nil, "with the ids"},
	{nil, "with the ids"},
	{nil, "package change counts"},
}

var _ = [1]struct{}{}[len(moves)-int(world.PartCount)] // each part has an entry

// moveTransfers moves the rows.
func (m *migration) moveTransfers() error {
	for i := range m.transfers {
		m.transfers[i].move(m)
	}
	return nil
}
