package ecs

import (
	"unsafe"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
)

// Destroying. An entity with Cleanup types does not end: it becomes one of those types and
// CleanupEntity, and ends when the last of them is removed. So the code that registered such a type
// sees each entity that had it go, and releases what it keeps for the entity elsewhere:
//
//	[Position Socket]  -- Destroy -->  [CleanupEntity Socket]  -- Remove Socket -->  ended
//	[Position]         -- Destroy -------------------------------------->  ended
//
// Both are the change dies, which is applied like any other where there is more to do than to end
// rows.

// Destroy ends an entity and everything it holds. It returns false, and does nothing, when e is not
// alive: destroying twice, or Null, is no error. An entity with Cleanup types stays alive with
// those and CleanupEntity; destroying it again returns false, and leaves the members of a group
// that it got meanwhile. One with LinkedEntity takes the members of its group along. It panics
// during iteration, for an entity of another world, and with a *LimitError when there is no room
// for what Cleanup leaves.
func (w *World) Destroy(e Entity) bool {
	w.checkUnlocked("World.Destroy")
	r := w.find(e) // recordOf, but for a call
	if r == nil {
		w.checkWorld("World.Destroy", e)
		return false
	}
	o := w.tables.OwnerOf(r.Location)
	a := w.archetypeAt(o)
	if a.lasting {
		destroyed, err := w.TryDestroy(e)
		if err != nil {
			panic(err)
		}
		return destroyed
	}
	w.rows.EndOne(&a.table.Table, entity.ID(e), r, o)
	return true
}

// destruction returns the change that Destroy makes of an entity, members of its group left alone.
func (w *World) destruction() *Change {
	w.checkNew("seam.Destruction")
	return w.dies
}

// TryDestroy is Destroy that returns the *LimitError; nothing has changed then.
func (w *World) TryDestroy(e Entity) (bool, error) {
	const op = "World.Destroy"
	w.checkChange(op)
	if w.recordOf(op, e) == nil {
		return false, nil
	}
	n, err := w.destroyRows(op, w.withGroups(w.selectList(op, []Entity{e}, false)))
	return n > 0, err
}

// DestroyQuery ends every entity that matches q, as Destroy does, and returns how many it
// destroyed, members of groups included. All are destroyed or none: it panics like Destroy, and for
// a query of another world. Changed and Ordered terms of q compare with its Since, which stays.
// Cost: per chunk, but for the ids, where all rows of an archetype match.
func (w *World) DestroyQuery(q *Query) int {
	w.checkChange("World.DestroyQuery")
	w.checkQuery("World.DestroyQuery", q)
	n, err := w.destroyRows("World.DestroyQuery", w.withGroups(q.selectRows()))
	if err != nil {
		panic(err)
	}
	return n
}

// DestroyList ends the entities of a list, in any order, as DestroyQuery, and returns how many.
// Those that are dead, or twice in the list, are passed by. It panics for an entity of another
// world, and destroys nothing then.
func (w *World) DestroyList(list []Entity) int {
	w.checkChange("World.DestroyList")
	n, err := w.destroyRows("World.DestroyList", w.withGroups(w.selectList("World.DestroyList", list, false)))
	if err != nil {
		panic(err)
	}
	return n
}

// destroyRows destroys what a transaction has selected and returns how many entities that were.
func (w *World) destroyRows(op string, tx *change.Tx) (n int, err error) {
	for i := range tx.Parts {
		if w.archetypeOn(tx.Parts[i].Table).lasting {
			b, ended, err := w.dies.applyTo(op, tx)
			return b.n + ended, err
		}
	}
	return w.endRows(op, tx), nil
}

// endRows ends what a transaction has selected, whatever it has.
func (w *World) endRows(op string, tx *change.Tx) (n int) {
	w.loops.enter(op)
	defer w.loops.leave()
	for i := range tx.Parts {
		tx.Parts[i].Outcome = change.End()
	}
	_, n = tx.Commit()
	return n
}

// withGroups adds the members of the groups that a transaction has selected.
func (w *World) withGroups(tx *change.Tx) *change.Tx {
	groups := false
	for i := range tx.Parts {
		groups = groups || w.archetypeOn(tx.Parts[i].Table).leads()
	}
	if !groups {
		return tx
	}
	var list []Entity
	for i := range tx.Parts {
		list = w.appendGroups(list, &tx.Parts[i])
	}
	return w.selectList("", list, false)
}

// leads reports whether the archetype's entities stand for groups that end with them. Those that
// are dying were destroyed before: a group that one got since is not asked.
func (a *Archetype) leads() bool { return a.table.Sig.Has(linkedID) && !a.dying }

// appendGroups appends the entities of a part, each followed by those linked to it.
func (w *World) appendGroups(list []Entity, p *change.Part) []Entity {
	a := w.archetypeOn(p.Table)
	runs := p.Backward()
	for pos, row, n, ok := runs.Next(); ok; pos, row, n, ok = runs.Next() {
		list = a.appendGroups(list, pos, row, n)
	}
	return list
}

// appendGroups does so for some rows.
func (a *Archetype) appendGroups(list []Entity, pos, row, n int) []Entity {
	at := a.table.Store.Row(pos, row)
	leads := a.leads()
	for _, e := range entities(at.Base, row+n)[row:] {
		list = append(list, e)
		if leads {
			list = a.w.appendLinked(list, value.HeaderOf(at, a.table.Column(linkedID)))
		}
		at.Row++
	}
	return list
}

// appendLinked appends the entities of a buffer of LinkedEntity that are alive.
func (w *World) appendLinked(list []Entity, h *value.Header) []Entity {
	// Safe because the buffer's elements are LinkedEntities.
	for _, l := range unsafe.Slice((*LinkedEntity)(w.buffers.Own().Elements(h)), h.Len()) {
		if w.find(l.Entity) != nil {
			list = append(list, l.Entity)
		}
	}
	return list
}

// Clear ends every entity, those of hidden ones included, and those with Cleanup types too: they
// leave nothing. Types, archetypes and queries stay, as do versions: handles from before are dead,
// and the indices are given again from the lowest on. It panics during iteration.
func (w *World) Clear() { w.clear("World.Clear") }

func (w *World) clear(op string) {
	w.checkUnlocked(op)
	w.endRows(op, w.selectAll())
	w.ids.EndLease()
}

// Reset is Clear, then Shrink without a budget: all memory but the entities' records goes back to
// the universe. The world can be used as before; old handles are dead. Archetypes of NewArchetype
// and their shared values stay.
func (w *World) Reset() {
	w.clear("World.Reset")
	w.Shrink(0)
}
