package edit

import (
	"fmt"
	"slices"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
)

// CreateReserved is ecs.Archetype.CreateReserved.
func CreateReserved(a *world.Archetype, ids []entity.ID) (Batch, error) {
	const op = "Archetype.CreateReserved"
	w := a.World
	w.CheckUnlocked(op)
	if a.CleanupOnly {
		world.RefuseDying(op)
	}
	Hold(w, op, ids)
	if len(ids) == 0 {
		return Batch{World: w, epoch: w.Writer.Epoch}, nil
	}
	w.SweepBut(a)
	before := len(w.Archetypes.List)
	a, err := a.Current()
	if err == nil {
		err = world.LimitErrorOf(w.Writer.RoomHeld(&a.Table.Table, len(ids)))
	}
	if err != nil {
		w.IDs.LetGo(ids)
		w.Forget(before)
		return Batch{}, world.WithOp(op, err)
	}
	tx := w.Writer.Begin()
	tx.Note(w.Writer.CreateHeld(&a.Table.Table, ids))
	return batch(w, len(ids)), nil
}

// Hold marks reserved ids, so that no other goroutine creates or releases them. It panics and holds
// none if one of them is not reserved.
func Hold(w *world.World, op string, ids []entity.ID) {
	if i := w.IDs.Hold(ids); i >= 0 {
		notReserved(w, op, ids, i)
	}
}

// notReserved panics for ids[i] with the reason why it is not reserved.
//
//go:noinline
func notReserved(w *world.World, op string, ids []entity.ID, i int) {
	e := ids[i]
	why := "it was given back, created and destroyed, or never reserved"
	switch {
	case e == world.Null:
		why = "it names no entity"
	case e.IsPlaceholder():
		why = "it is a placeholder of a command buffer"
	case e.Tag() != w.IDs.Tag():
		why = "it belongs to another world"
	case slices.Contains(ids[:i], e):
		why = "it is given twice"
	case w.Alive(e):
		why = "it is alive already"
	}
	panic(fmt.Sprintf("ecs: %s: ids[%d] = %v is not reserved: %s; nothing was changed", op, i, e, why))
}
