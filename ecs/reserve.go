package ecs

import (
	"fmt"
	"slices"

	"quarry/ecs/internal/entity"
)

// Reserve fills ids with entities that are promised: unlike any other id of the world, but not
// alive until the owner hands them to [Archetype.CreateReserved], so every look-up says no and no
// query sees them. Any goroutine may call it at any time, loops of the owner included, but not
// during Close. All are promised or none: the error is a *LimitError. Which ids come is not
// deterministic where several goroutines call.
//
// They come from blocks of 8,192 that serve reserved ids only. The world has 16,384 blocks,
// numbered in the order in which they are made; the owner cannot use what is free in blocks of
// reserved ids, nor Reserve what is free in the owner's. So the index of an entity that the owner
// creates otherwise depends on how many blocks Reserve had made when the owner's block was made:
// the same operations give the same ids when Reserve is one of them, in its place, and the same but
// for the numbers of blocks when other goroutines call it meanwhile. A block costs 32 KiB of the
// universe and 2 KiB of Go memory, and is kept until the world closes. Records of the entities, 64
// KiB a block, come with the next block of the owner or with CreateReserved. Reserve cannot take
// the reserves of archetypes; when there is no memory, see World.Trim. Cost: a few atomics for each
// call and block.
func (w *World) Reserve(ids []Entity) error {
	w.checkHandle("World.Reserve")
	return during("World.Reserve", refused(w.ids.Promise(idsOf(ids))))
}

// Unreserve takes back ids that nobody will create; they never name an entity. Any goroutine may
// call it, whichever reserved them, but not during Close. It panics, and takes none, when one is
// not reserved now: null, of another world, created or given back before, or given twice.
func (w *World) Unreserve(ids []Entity) {
	w.checkHandle("World.Unreserve")
	w.hold("World.Unreserve", ids)
	w.ids.TakeBack(idsOf(ids))
}

// CreateReserved makes entities of ids that were promised by [World.Reserve], with the archetype's
// types, all zero, in rows in the order of ids. All are made or none: an error is a *LimitError,
// and the ids stay reserved. It panics during iteration, and for ids that are not reserved now as
// Unreserve does. Like all structural changes it is the owner's.
func (a *Archetype) CreateReserved(ids []Entity) (Batch, error) {
	const op = "Archetype.CreateReserved"
	w := a.w
	w.checkUnlocked(op)
	if a.dying {
		refuseDying(op)
	}
	w.hold(op, ids)
	if len(ids) == 0 {
		return Batch{w: w, epoch: w.rows.Epoch}, nil
	}
	w.sweepBut(a)
	before := len(w.archetypes.list)
	a, err := a.again()
	if err == nil {
		err = refused(w.rows.RoomHeld(&a.table.Table, len(ids)))
	}
	if err != nil {
		w.ids.LetGo(idsOf(ids))
		w.forget(before)
		return Batch{}, during(op, err)
	}
	tx := w.rows.Begin()
	tx.Note(w.rows.CreateHeld(&a.table.Table, idsOf(ids)))
	return w.batch(len(ids)), nil
}

// hold marks ids that are reserved, so that nobody else creates them or gives them back. It panics
// when one is not, and holds none then.
func (w *World) hold(op string, ids []Entity) {
	if i := w.ids.Hold(idsOf(ids)); i >= 0 {
		w.notReserved(op, ids, i)
	}
}

// notReserved panics for ids[i], and says what it is.
//
//go:noinline
func (w *World) notReserved(op string, ids []Entity, i int) {
	e := ids[i]
	why := "it was given back, created and destroyed, or never reserved"
	switch {
	case e == Null:
		why = "it names no entity"
	case e.IsPlaceholder():
		why = "it is a placeholder of a command buffer"
	case entity.ID(e).Tag() != w.ids.Tag():
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
