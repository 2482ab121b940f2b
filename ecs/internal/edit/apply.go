package edit

import (
	"fmt"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
)

// Applying changes to one entity or to many, all or none. Finding the outcomes and reserving room
// come first, because they can fail; then rows move (ecs/internal/change).

// Apply is ecs.Change.Apply.
func (c *Change) Apply(e entity.ID) (changed bool, err error) {
	const op = "Change.Apply"
	w := c.World
	w.CheckChange(op)
	r := w.RecordOf(op, e)
	if r == nil {
		if c.Adds() {
			panic(fmt.Sprintf("ecs: %s: %v is not alive, cannot apply %v", op, e, c))
		}
		return false, nil
	}
	if c.ChangesEntries() {
		changed = c.changesEntriesOf(r, e)
		b, ended, err := c.ApplyTo(op, SelectList(w, op, []entity.ID{e}, true))
		return err == nil && (changed || b.N+ended > 0), err
	}
	a := w.ArchetypeAt(w.Tables.OwnerOf(r.Location))
	before := len(w.Archetypes.List)
	out, err := c.outcome(a)
	if err != nil {
		w.Forget(before)
		return false, world.WithOp(op, err)
	}
	switch {
	case out.Stays():
		return false, nil
	case out.Ends():
		w.Writer.EndOne(&a.Table.Table, e, r, w.Tables.OwnerOf(r.Location))
		return true, nil
	}
	return MoveBy(w, op, out.Transition(), e, r, before)
}

// Adds reports whether the change adds something, which makes it an error to apply it to a dead
// entity.
func (c *Change) Adds() bool { return c.adds || c.Into != nil }

// ApplyList changes the entities of a list, as ApplyTo does.
func (c *Change) ApplyList(op string, list []entity.ID) (b Batch, ended int, err error) {
	if c.Into == nil && c.ChangesEntries() && c.add == (world.Signature{}) && c.remove == (world.Signature{}) {
		return Batch{World: c.World}, 0, c.enterListed(op, list)
	}
	return c.ApplyTo(op, SelectList(c.World, op, list, c.Adds()))
}

// ApplyTo changes the rows that a transaction has selected, all or none. It also returns how many
// entities ended.
func (c *Change) ApplyTo(op string, tx *change.Tx) (b Batch, ended int, err error) {
	w := c.World
	w.Loops.Enter(op)
	defer w.Loops.Leave()
	before := len(w.Archetypes.List)
	var entering []entity.ID
	if c.ChangesEntries() {
		entering = entitiesOfParts(nil, tx)
		c.expectEntries(tx, len(entering))
	}
	for i := range tx.Parts {
		p := &tx.Parts[i]
		if p.Outcome, err = c.outcome(w.ArchetypeOn(p.Table)); err != nil {
			tx.Cancel()
			break
		}
	}
	if err == nil {
		err = world.LimitErrorOf(tx.Reserve(0))
	}
	if err != nil {
		w.Forget(before)
		return Batch{}, 0, world.WithOp(op, err)
	}
	moved, ended := tx.Commit()
	c.EnterList(entering)
	return batch(w, moved), ended, nil
}
