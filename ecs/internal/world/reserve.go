package world

import (
	"fmt"
	"slices"

	"quarry/ecs/internal/entity"
)

// CreateReserved is ecs.Archetype.CreateReserved.
func (a *Archetype) CreateReserved(ids []entity.ID) (Batch, error) {
	const op = "Archetype.CreateReserved"
	w := a.World
	w.CheckUnlocked(op)
	if a.Dying {
		RefuseDying(op)
	}
	w.Hold(op, ids)
	if len(ids) == 0 {
		return Batch{World: w, epoch: w.Rows.Epoch}, nil
	}
	w.sweepBut(a)
	before := len(w.Archetypes.List)
	a, err := a.again()
	if err == nil {
		err = Refused(w.Rows.RoomHeld(&a.Table.Table, len(ids)))
	}
	if err != nil {
		w.IDs.LetGo(ids)
		w.Forget(before)
		return Batch{}, During(op, err)
	}
	tx := w.Rows.Begin()
	tx.Note(w.Rows.CreateHeld(&a.Table.Table, ids))
	return w.batch(len(ids)), nil
}

// Hold marks reserved ids, so that no other goroutine creates or releases them. It panics and holds
// none if one of them is not reserved.
func (w *World) Hold(op string, ids []entity.ID) {
	if i := w.IDs.Hold(ids); i >= 0 {
		w.notReserved(op, ids, i)
	}
}

// notReserved panics for ids[i] with the reason why it is not reserved.
//
//go:noinline
func (w *World) notReserved(op string, ids []entity.ID, i int) {
	e := ids[i]
	why := "it was given back, created and destroyed, or never reserved"
	switch {
	case e == null:
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
	// errors.md, Entities: `is not reserved: ...; nothing was changed` | `CreateReserved` or
	// `Unreserve` of an id that is not promised now. | Each id is handed back once: it says why
	// not.
	panic(fmt.Sprintf("ecs: %s: ids[%d] = %v is not reserved: %s; nothing was changed", op, i, e, why))
}
