package ecs

import (
	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
)

// Apply applies the change to one entity. changed is false if the entity already has what is added
// and lacks what is removed, or if it is dead and the change only removes. Apply panics if e is
// dead and the change adds, inside a loop over rows, and for an entity of another world. An error
// is a *LimitError; nothing has changed then.
func (c *Change) Apply(e Entity) (changed bool, err error) { return c.inner().Apply(entity.ID(e)) }

// ApplyQuery applies the change to every entity that matches q. Either all are changed or none; an
// error is a *LimitError. The batch holds the rows that moved, in their new places, for the caller
// to fill.
//
// Rows stay together: columns are copied chunk by chunk. If a whole archetype matches and its
// layout equals the target's, its chunks change hands without a copy. That is so if only tags
// differ, or if the target has no rows and can adopt the layout; there, removed types leave holes
// that cost at most a quarter of the rows.
//
// ApplyQuery panics inside a loop over rows and for a query of another world. Changed and Ordered
// terms of q compare with its Since, which does not advance.
func (c *Change) ApplyQuery(q *Query) (Batch, error) {
	const op = "Change.ApplyQuery"
	c.core.World.CheckChange(op)
	edit.CheckQuery(c.core.World, op, q.inner())
	b, _, err := c.inner().ApplyTo(op, edit.SelectRows(q.inner(), op))
	return Batch{b}, err
}

// ApplyList applies the change to the entities of a list, in any order, as ApplyQuery does. An
// entity that is in the list twice is changed once. Dead entities are skipped if the change only
// removes. ApplyList panics for a dead entity if the change adds, and for an entity of another
// world; nothing has changed then.
func (c *Change) ApplyList(list []Entity) (Batch, error) {
	const op = "Change.ApplyList"
	c.core.World.CheckChange(op)
	b, _, err := c.inner().ApplyTo(op, edit.SelectList(c.core.World, op, idsOf(list), c.inner().Gives()))
	return Batch{b}, err
}
