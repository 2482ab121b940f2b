package ecs

import (
	"fmt"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
)

// Applying changes to one entity or to many, all or none. Finding the outcomes and reserving room
// come first, because they can fail; then rows move (ecs/internal/change).

// Apply applies the change to one entity. changed is false if the entity already has what is added
// and lacks what is removed, or if it is dead and the change only removes. Apply panics if e is
// dead and the change adds, inside a loop over rows, and for an entity of another world. An error
// is a *LimitError; nothing has changed then.
func (c *Change) Apply(e Entity) (changed bool, err error) {
	const op = "Change.Apply"
	w := c.w
	w.checkChange(op)
	r := w.recordOf(op, e)
	if r == nil {
		if c.gives() {
			// errors.md, Entities: `is not alive, cannot apply` | A `Change` that adds types,
			// for a dead entity. | Ask `World.Alive` first.
			panic(fmt.Sprintf("ecs: %s: %v is not alive, cannot apply %v", op, e, c))
		}
		return false, nil
	}
	if c.changesEntries() {
		changed = c.changesEntriesOf(r, entity.ID(e))
		b, ended, err := c.applyTo(op, w.selectList(op, []Entity{e}, true))
		return err == nil && (changed || b.n+ended > 0), err
	}
	a := w.archetypeAt(w.tables.OwnerOf(r.Location))
	before := len(w.archetypes.list)
	out, err := c.outcome(a)
	if err != nil {
		w.forget(before)
		return false, during(op, err)
	}
	switch {
	case out.Stays():
		return false, nil
	case out.Ends():
		w.rows.EndOne(&a.table.Table, entity.ID(e), r, w.tables.OwnerOf(r.Location))
		return true, nil
	}
	return w.take(op, out.Path(), e, r, before)
}

// gives reports whether the change adds something, which makes it an error to apply it to a dead
// entity.
func (c *Change) gives() bool { return c.adds || c.into != nil }

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
	c.w.checkChange(op)
	c.w.checkQuery(op, q)
	b, _, err := c.applyTo(op, q.selectRows(op))
	return b, err
}

// ApplyList applies the change to the entities of a list, in any order, as ApplyQuery does. An
// entity that is in the list twice is changed once. Dead entities are skipped if the change only
// removes. ApplyList panics for a dead entity if the change adds, and for an entity of another
// world; nothing has changed then.
func (c *Change) ApplyList(list []Entity) (Batch, error) {
	const op = "Change.ApplyList"
	c.w.checkChange(op)
	b, _, err := c.applyTo(op, c.w.selectList(op, list, c.gives()))
	return b, err
}

// applyTo changes the rows that a transaction has selected, all or none. It also returns how many
// entities ended.
func (c *Change) applyTo(op string, tx *change.Tx) (b Batch, ended int, err error) {
	w := c.w
	w.loops.enter(op)
	defer w.loops.leave()
	before := len(w.archetypes.list)
	var entering []entity.ID
	if c.changesEntries() {
		entering = entitiesOfParts(nil, tx)
		tx.Also(func() error { return c.reserveSets(len(entering)) })
	}
	for i := range tx.Parts {
		p := &tx.Parts[i]
		if p.Outcome, err = c.outcome(w.archetypeOn(p.Table)); err != nil {
			tx.Cancel()
			break
		}
	}
	if err == nil {
		err = refused(tx.Reserve(0))
	}
	if err != nil {
		w.forget(before)
		return Batch{}, 0, during(op, err)
	}
	moved, ended := tx.Commit()
	for _, e := range entering {
		c.enter(e)
	}
	return w.batch(moved), ended, nil
}
