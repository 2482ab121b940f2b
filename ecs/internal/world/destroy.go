package world

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
// Both are the change editing.dies, which is applied like any other change if there is more to do
// than to end rows.

// Destroy is ecs.World.Destroy.
func (w *World) Destroy(e entity.ID) bool {
	w.CheckUnlocked("World.Destroy")
	r := w.Find(e) // RecordOf, without its call
	if r == nil {
		w.CheckWorld("World.Destroy", e)
		return false
	}
	o := w.Tables.OwnerOf(r.Location)
	a := w.ArchetypeAt(o)
	if a.lasting {
		destroyed, err := w.TryDestroy(e)
		if err != nil {
			panic(err)
		}
		return destroyed
	}
	w.Rows.EndOne(&a.Table.Table, e, r, o)
	return true
}

// Destruction returns the change that Destroy applies to an entity. It does not include the members
// of the entity's group.
func (w *World) Destruction() *Change {
	w.CheckNew("seam.Destruction")
	return w.ending()
}

// editing is what structural changes keep in a world from call to call.
type editing struct {
	dies    *Change // what Destroy does to entities with Cleanup types or LinkedEntity; nil until it is asked for, see ending
	copying copying // scratch of the last Instantiate, reused by the next
}

// edits returns the world's editing. The first call makes it.
func (w *World) edits() *editing {
	e, ok := w.editing.(*editing)
	if !ok {
		e = new(editing)
		w.editing = e
	}
	return e
}

// ending returns editing.dies. The first call makes it.
func (w *World) ending() *Change {
	e := w.edits()
	if e.dies == nil {
		e.dies = &Change{World: w, dies: true}
	}
	return e.dies
}

// TryDestroy is ecs.World.TryDestroy.
func (w *World) TryDestroy(e entity.ID) (bool, error) {
	const op = "World.Destroy"
	w.CheckChange(op)
	if w.RecordOf(op, e) == nil {
		return false, nil
	}
	n, err := w.DestroyRows(op, w.WithGroups(w.SelectList(op, []entity.ID{e}, false)))
	return n > 0, err
}

// DestroyQuery is ecs.World.DestroyQuery.
func (w *World) DestroyQuery(q *Query) int {
	w.CheckChange("World.DestroyQuery")
	w.CheckQuery("World.DestroyQuery", q)
	n, err := w.DestroyRows("World.DestroyQuery", w.WithGroups(q.SelectRows("World.DestroyQuery")))
	if err != nil {
		panic(err)
	}
	return n
}

// DestroyRows destroys the rows that a transaction has selected and returns the number of entities
// destroyed.
func (w *World) DestroyRows(op string, tx *change.Tx) (n int, err error) {
	for i := range tx.Parts {
		if w.archetypeOn(tx.Parts[i].Table).lasting {
			b, ended, err := w.ending().ApplyTo(op, tx)
			return b.N + ended, err
		}
	}
	return w.endRows(op, tx), nil
}

// endRows ends the rows that a transaction has selected, even those with Cleanup types.
func (w *World) endRows(op string, tx *change.Tx) (n int) {
	w.Loops.enter(op)
	defer w.Loops.leave()
	for i := range tx.Parts {
		tx.Parts[i].Outcome = change.End()
	}
	_, n = tx.Commit()
	return n
}

// WithGroups adds to a transaction's selection the members of all selected groups.
func (w *World) WithGroups(tx *change.Tx) *change.Tx {
	groups := false
	for i := range tx.Parts {
		groups = groups || w.archetypeOn(tx.Parts[i].Table).leads()
	}
	if !groups {
		return tx
	}
	var list []entity.ID
	for i := range tx.Parts {
		list = w.appendGroups(list, &tx.Parts[i])
	}
	return w.SelectList("", list, false)
}

// leads reports whether the archetype's entities head groups that are destroyed with them. A dying
// entity was destroyed before, so a group that it gained since does not count.
func (a *Archetype) leads() bool { return a.Table.Sig.Has(linkedID) && !a.Dying }

// appendGroups appends the entities of a part, each followed by the entities linked to it.
func (w *World) appendGroups(list []entity.ID, p *change.Part) []entity.ID {
	a := w.archetypeOn(p.Table)
	runs := p.Backward()
	for pos, row, n, ok := runs.Next(); ok; pos, row, n, ok = runs.Next() {
		list = a.appendGroups(list, pos, row, n)
	}
	return list
}

// appendGroups appends the entities of n rows, each followed by the entities linked to it.
func (a *Archetype) appendGroups(list []entity.ID, pos, row, n int) []entity.ID {
	at := a.Table.Store.Row(pos, row)
	leads := a.leads()
	for _, e := range Entities(at.Base, row+n)[row:] {
		list = append(list, e)
		if leads {
			list = a.World.appendLinked(list, value.HeaderOf(at, a.Table.Column(linkedID)))
		}
		at.Row++
	}
	return list
}

// appendLinked appends the living entities of a LinkedEntity buffer.
func (w *World) appendLinked(list []entity.ID, h *value.Header) []entity.ID {
	// Safe because the buffer's elements are LinkedEntities, of which each is an Entity.
	for _, e := range unsafe.Slice((*entity.ID)(w.Buffers.Own().Elements(h)), h.Len()) {
		if w.Find(e) != nil {
			list = append(list, e)
		}
	}
	return list
}

// Clear is ecs.World.Clear for the call op.
func (w *World) Clear(op string) {
	w.CheckUnlocked(op)
	w.endRows(op, w.selectAll())
	w.IDs.EndLease()
}
