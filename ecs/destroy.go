package ecs

import (
	"unsafe"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
)

// Destroying. An entity with Cleanup types does not end at once: it keeps only its Cleanup types,
// gains CleanupEntity, and ends when the last Cleanup type is removed. So the code that registered
// a Cleanup type finds every destroyed entity that had it, and releases the resources that it keeps
// for the entity elsewhere:
//
//	[Position Socket]  -- Destroy -->  [CleanupEntity Socket]  -- Remove Socket -->  ended
//	[Position]         -- Destroy -------------------------------------->  ended
//
// Both are the change World.dies, which is applied like any other change if there is more to do
// than to end rows.

// Destroy destroys an entity and everything it holds. It returns false and does nothing if e is not
// alive; destroying an entity twice, or Null, is not an error. An entity with Cleanup types stays
// alive with those types and CleanupEntity. Destroying it again returns false, and does not touch
// group members that it gained meanwhile. An entity with LinkedEntity takes the members of its
// group along. Destroy panics inside a loop over rows, for an entity of another world, and with a
// *LimitError if there is no room for an entity that Cleanup keeps.
func (w *World) Destroy(e Entity) bool {
	w.checkUnlocked("World.Destroy")
	r := w.find(e) // recordOf, without its call
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

// destruction returns the change that Destroy applies to an entity. It does not include the members
// of the entity's group.
func (w *World) destruction() *Change {
	w.checkNew("seam.Destruction")
	return w.ending()
}

// ending returns World.dies. The first call makes it.
func (w *World) ending() *Change {
	if w.dies == nil {
		w.dies = &Change{w: w, dies: true}
	}
	return w.dies
}

// TryDestroy is like Destroy but returns the *LimitError; nothing has changed then.
func (w *World) TryDestroy(e Entity) (bool, error) {
	const op = "World.Destroy"
	w.checkChange(op)
	if w.recordOf(op, e) == nil {
		return false, nil
	}
	n, err := w.destroyRows(op, w.withGroups(w.selectList(op, []Entity{e}, false)))
	return n > 0, err
}

// DestroyQuery destroys every entity that matches q, as Destroy does. It returns the number of
// entities destroyed, including members of groups. Either all are destroyed or none. It panics like
// Destroy, and for a query of another world. Changed and Ordered terms of q compare with its Since,
// which does not advance. Cost: per chunk if all rows of an archetype match, except for the ids.
func (w *World) DestroyQuery(q *Query) int {
	w.checkChange("World.DestroyQuery")
	w.checkQuery("World.DestroyQuery", q)
	n, err := w.destroyRows("World.DestroyQuery", w.withGroups(q.selectRows("World.DestroyQuery")))
	if err != nil {
		panic(err)
	}
	return n
}

// DestroyList destroys the entities of a list, in any order, as DestroyQuery does, and returns the
// number destroyed. It skips dead entities and duplicates. It panics for an entity of another
// world, and then destroys nothing.
func (w *World) DestroyList(list []Entity) int {
	w.checkChange("World.DestroyList")
	n, err := w.destroyRows("World.DestroyList", w.withGroups(w.selectList("World.DestroyList", list, false)))
	if err != nil {
		panic(err)
	}
	return n
}

// destroyRows destroys the rows that a transaction has selected and returns the number of entities
// destroyed.
func (w *World) destroyRows(op string, tx *change.Tx) (n int, err error) {
	for i := range tx.Parts {
		if w.archetypeOn(tx.Parts[i].Table).lasting {
			b, ended, err := w.ending().applyTo(op, tx)
			return b.n + ended, err
		}
	}
	return w.endRows(op, tx), nil
}

// endRows ends the rows that a transaction has selected, even those with Cleanup types.
func (w *World) endRows(op string, tx *change.Tx) (n int) {
	w.loops.enter(op)
	defer w.loops.leave()
	for i := range tx.Parts {
		tx.Parts[i].Outcome = change.End()
	}
	_, n = tx.Commit()
	return n
}

// withGroups adds to a transaction's selection the members of all selected groups.
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

// leads reports whether the archetype's entities head groups that are destroyed with them. A dying
// entity was destroyed before, so a group that it gained since does not count.
func (a *Archetype) leads() bool { return a.table.Sig.Has(linkedID) && !a.dying }

// appendGroups appends the entities of a part, each followed by the entities linked to it.
func (w *World) appendGroups(list []Entity, p *change.Part) []Entity {
	a := w.archetypeOn(p.Table)
	runs := p.Backward()
	for pos, row, n, ok := runs.Next(); ok; pos, row, n, ok = runs.Next() {
		list = a.appendGroups(list, pos, row, n)
	}
	return list
}

// appendGroups appends the entities of n rows, each followed by the entities linked to it.
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

// appendLinked appends the living entities of a LinkedEntity buffer.
func (w *World) appendLinked(list []Entity, h *value.Header) []Entity {
	// Safe because the buffer's elements are LinkedEntities.
	for _, l := range unsafe.Slice((*LinkedEntity)(w.buffers.Own().Elements(h)), h.Len()) {
		if w.find(l.Entity) != nil {
			list = append(list, l.Entity)
		}
	}
	return list
}

// Clear destroys every entity, including hidden entities and entities with Cleanup types, of which
// nothing remains. Types, archetypes, queries and versions stay: old entities are dead, and indices
// are reused from the lowest on. Clear panics inside a loop over rows.
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
