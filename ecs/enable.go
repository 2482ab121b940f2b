package ecs

import (
	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/world"
)

// Enable bits: one word per 64 rows, for each type registered with Enableable, in Go memory beside
// the chunk. Toggling is not a structural change and moves nothing. Bits of rows beyond the last
// are 0 (W6). The column address of a row block points to the bits, so toggling one entity's
// component costs one look-up and one word (entity.LookupTable.Switch).

// enableHandle is the handle of a type that may be Enableable. Component, Buffer and Managed embed
// it; Chunk, whose value belongs to no row, embeds handle alone and so has none of these methods.
type enableHandle struct{ handle }

// Enable enables e's component. It returns false if e is not alive or does not have the component,
// and panics if the type is not Enableable. It may be called inside a loop: the mask of the current
// rows is a snapshot and does not change, but the masks of later chunks include the change.
func (h enableHandle) Enable(e Entity) bool {
	return h.t.OwnerLookup().TableOrNil().Switch(entity.ID(e), true)
}

// Disable disables e's component: queries that name the component skip e, while Has and Get still
// find it. It returns and panics like Enable.
func (h enableHandle) Disable(e Entity) bool {
	return h.t.OwnerLookup().TableOrNil().Switch(entity.ID(e), false)
}

// Enabled reports whether e is alive and has the component, enabled. A type that is not Enableable
// is always enabled.
func (h enableHandle) Enabled(e Entity) bool {
	return h.t.OwnerLookup().Enabled("Component.Enabled", entity.ID(e))
}

// EnabledAt reports whether the component of the i'th row of rows is enabled at the call, unlike
// Rows.Each and Rows.Mask, which are snapshots. The query may read the component, or name it in
// With, Disabled or Present. EnabledAt panics like Component.Slice, if i is not in [0, rows.Len()),
// if the chunk lacks an Optional type, and if the type is not Enableable.
func (h enableHandle) EnabledAt(rows Rows, i int) bool {
	p, s := rows.core.BitAt(h.t, "Component.EnabledAt", i), rows.core.Scan
	return s.Binding.Archetype.Table.Metadata.Bits(p.Slot(), s.Pos).Has(s.First + i)
}

// EnableAt enables the component of the i'th row of rows. It panics like EnabledAt, and if the
// query does not declare the component with Write. Goroutines of a borrow use it to toggle their
// rows.
func (h enableHandle) EnableAt(rows Rows, i int) {
	query.ToggleAt(h.t, "Component.EnableAt", rows.core, i, true)
}

// DisableAt disables the component of the i'th row of rows; see EnableAt.
func (h enableHandle) DisableAt(rows Rows, i int) {
	query.ToggleAt(h.t, "Component.DisableAt", rows.core, i, false)
}

// EnableQuery enables the component for every entity that matches q and has it, and returns the
// number of these entities. Rows that do not match are unchanged: to enable the component of all
// entities, query with ecs.Present or ecs.Disabled of it. EnableQuery may be called inside a loop,
// whose masks do not change, but not while the world is lent. It panics if the type is not
// Enableable. Cost: per 64 rows.
func (h enableHandle) EnableQuery(q *Query) int {
	return toggleQuery(h.t, "Component.EnableQuery", q, true)
}

// DisableQuery disables the component; see EnableQuery.
func (h enableHandle) DisableQuery(q *Query) int {
	return toggleQuery(h.t, "Component.DisableQuery", q, false)
}

// EnableList enables the component for the entities of a list that are alive and have it. It
// returns the number of these entities and counts duplicates once. It panics like EnableQuery, and
// for an entity of another world, before anything changes.
func (h enableHandle) EnableList(list []Entity) int {
	return toggleList(h.t, "Component.EnableList", list, true)
}

// DisableList disables the component; see EnableList.
func (h enableHandle) DisableList(list []Entity) int {
	return toggleList(h.t, "Component.DisableList", list, false)
}

// Toggling in bulk, by query and by list, sets whole words of bits.

func toggleQuery(t *world.Type, op string, q *Query, on bool) int {
	t.CheckToggle(op)
	edit.CheckQuery(t.World, op, q.inner())
	q.inner().CheckLent(op, true)
	return t.ToggleRows(edit.SelectRows(q.inner(), op), on)
}

func toggleList(t *world.Type, op string, list []Entity, on bool) int {
	t.CheckToggle(op)
	return t.ToggleRows(edit.SelectList(t.World, op, idsOf(list), false), on)
}
