package ecs

import (
	"fmt"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
)

// Applying changes: to one entity, or to many, of which all are changed or none. Outcomes and room
// come first, for they can be refused; then rows move (ecs/internal/change).

// Apply changes one entity. changed is false when it has what is added and lacks what is removed,
// or is dead and the change only removes. It panics when e is dead and the change adds, during
// iteration, and for an entity of another world. An error is a *LimitError; nothing has changed
// then.
func (c *Change) Apply(e Entity) (changed bool, err error) {
	const op = "Change.Apply"
	w := c.w
	w.checkChange(op)
	r := w.recordOf(op, e)
	if r == nil {
		if c.gives() {
			panic(fmt.Sprintf("ecs: %s: %v is not alive, cannot apply %v", op, e, c))
		}
		return false, nil
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

// gives reports whether dead entities are a mistake: they cannot get anything.
func (c *Change) gives() bool { return c.adds || c.into != nil }

// ApplyQuery changes every entity that matches q. All are changed or none: an error is a
// *LimitError. Rows stay together: columns are copied chunk by chunk, and where the whole archetype
// matches and its rows lie as those of the target, chunks change hands without a copy: where only
// tags differ, or a target without rows can take over the layout, in which types that were removed
// are holes for a quarter of the rows at most. The batch is the rows that moved, in their new
// places, for the caller to fill. It panics during iteration and for a query of another world.
// Changed and Ordered terms of q compare with its Since, which stays.
func (c *Change) ApplyQuery(q *Query) (Batch, error) {
	const op = "Change.ApplyQuery"
	c.w.checkChange(op)
	c.w.checkQuery(op, q)
	b, _, err := c.applyTo(op, q.selectRows())
	return b, err
}

// ApplyList changes the entities of a list, in any order, as ApplyQuery. An entity that is in the
// list twice is changed once. Dead entities are passed by when the change only removes; when it
// adds they panic, as does an entity of another world, and nothing is changed.
func (c *Change) ApplyList(list []Entity) (Batch, error) {
	const op = "Change.ApplyList"
	c.w.checkChange(op)
	b, _, err := c.applyTo(op, c.w.selectList(op, list, c.gives()))
	return b, err
}

// applyTo changes the rows that a transaction has selected, all or none, and also returns how many
// entities ended.
func (c *Change) applyTo(op string, tx *change.Tx) (b Batch, ended int, err error) {
	w := c.w
	w.loops.enter(op)
	defer w.loops.leave()
	before := len(w.archetypes.list)
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
	return w.batch(moved), ended, nil
}
