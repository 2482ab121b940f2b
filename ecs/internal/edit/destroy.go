package edit

import (
	"unsafe"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// Destroying. An entity with Cleanup types does not end at once: it keeps only its Cleanup types,
// gains CleanupEntity, and ends when the last Cleanup type is removed. So the code that registered
// a Cleanup type finds every destroyed entity that had it, and releases the resources that it keeps
// for the entity elsewhere:
//
//	[Position Socket]  -- Destroy -->  [CleanupEntity Socket]  -- Remove Socket -->  ended
//	[Position]         -- Destroy -------------------------------------->  ended
//
// Both are the change editing.destroyChange, which is applied like any other change if there is
// more to do than to end rows.

// Destroy is ecs.World.Destroy.
func Destroy(w *world.World, e entity.ID) bool {
	w.CheckUnlocked("World.Destroy")
	r := w.Find(e) // RecordOf, without its call
	if r == nil {
		w.CheckWorld("World.Destroy", e)
		return false
	}
	o := w.Tables.OwnerOf(r.Location)
	a := w.ArchetypeAt(o)
	if a.DestroyedByChange {
		destroyed, err := TryDestroy(w, e)
		if err != nil {
			panic(err)
		}
		return destroyed
	}
	w.Writer.EndOne(&a.Table.Table, e, r, o)
	return true
}

// Destruction returns the change that Destroy applies to an entity. It does not include the members
// of the entity's group.
func Destruction(w *world.World) *Change {
	w.CheckNew("door.Destruction")
	return destroyChange(w)
}

// editing is what structural changes keep in a world from call to call.
type editing struct {
	// What Destroy does to entities with Cleanup types or LinkedEntity; nil until it is asked
	// for, see destroyChange.
	destroyChange *Change
	copying       copying // scratch of the last Instantiate, reused by the next
}

// edits returns the world's editing. The first call makes it.
func edits(w *world.World) *editing {
	e, ok := w.Editing.(*editing)
	if !ok {
		e = new(editing)
		w.Editing = e
	}
	return e
}

// destroyChange returns editing.destroyChange. The first call makes it.
func destroyChange(w *world.World) *Change {
	e := edits(w)
	if e.destroyChange == nil {
		e.destroyChange = &Change{World: w, destroys: true}
	}
	return e.destroyChange
}

// TryDestroy is ecs.World.TryDestroy.
func TryDestroy(w *world.World, e entity.ID) (bool, error) {
	const op = "World.Destroy"
	w.CheckChange(op)
	if w.RecordOf(op, e) == nil {
		return false, nil
	}
	n, err := DestroyRows(w, op, WithGroups(w, SelectList(w, op, []entity.ID{e}, false)))
	return n > 0, err
}

// DestroyQuery is ecs.World.DestroyQuery.
func DestroyQuery(w *world.World, q *query.Query) int {
	w.CheckChange("World.DestroyQuery")
	CheckQuery(w, "World.DestroyQuery", q)
	n, err := DestroyRows(w, "World.DestroyQuery", WithGroups(w, SelectRows(q, "World.DestroyQuery")))
	if err != nil {
		panic(err)
	}
	return n
}

// DestroyRows destroys the rows that a transaction has selected and returns the number of entities
// destroyed.
func DestroyRows(w *world.World, op string, tx *change.Tx) (n int, err error) {
	for i := range tx.Parts {
		if w.ArchetypeOn(tx.Parts[i].Table).DestroyedByChange {
			b, ended, err := destroyChange(w).ApplyTo(op, tx)
			return b.N + ended, err
		}
	}
	return EndRows(w, op, tx), nil
}

// EndRows ends the rows that a transaction has selected, even those with Cleanup types.
func EndRows(w *world.World, op string, tx *change.Tx) (n int) {
	w.Loops.Enter(op)
	defer w.Loops.Leave()
	for i := range tx.Parts {
		tx.Parts[i].Outcome = change.End()
	}
	_, n = tx.Commit()
	return n
}

// WithGroups adds to a transaction's selection the members of all selected groups.
func WithGroups(w *world.World, tx *change.Tx) *change.Tx {
	groups := false
	for i := range tx.Parts {
		groups = groups || ownsGroup(w.ArchetypeOn(tx.Parts[i].Table))
	}
	if !groups {
		return tx
	}
	var list []entity.ID
	for i := range tx.Parts {
		list = appendGroups(w, list, &tx.Parts[i])
	}
	return SelectList(w, "", list, false)
}

// ownsGroup reports whether the archetype's entities head groups that are destroyed with them. A
// dying entity was destroyed before, so a group that it gained since does not count.
func ownsGroup(a *world.Archetype) bool { return a.Table.Sig.Has(world.LinkedID) && !a.CleanupOnly }

// appendGroups appends the entities of a part, each followed by the entities linked to it.
func appendGroups(w *world.World, list []entity.ID, p *change.Part) []entity.ID {
	a := w.ArchetypeOn(p.Table)
	runs := p.Backward()
	for pos, row, n, ok := runs.Next(); ok; pos, row, n, ok = runs.Next() {
		list = appendGroupsOf(a, list, pos, row, n)
	}
	return list
}

// appendGroupsOf appends the entities of n rows, each followed by the entities linked to it.
func appendGroupsOf(a *world.Archetype, list []entity.ID, pos, row, n int) []entity.ID {
	at := a.Table.Store.Row(pos, row)
	leads := ownsGroup(a)
	for _, e := range world.Entities(at.Base, row+n)[row:] {
		list = append(list, e)
		if leads {
			list = appendLinked(a.World, list, value.HeaderOf(at, a.Table.Column(world.LinkedID)))
		}
		at.Row++
	}
	return list
}

// appendLinked appends the living entities of a LinkedEntity buffer.
func appendLinked(w *world.World, list []entity.ID, h *value.Header) []entity.ID {
	// Safe because each element of the buffer is a LinkedEntity, which is an Entity.
	for _, e := range unsafe.Slice((*entity.ID)(w.Buffers.OwnerSpill().Elements(h)), h.Len()) {
		if w.Find(e) != nil {
			list = append(list, e)
		}
	}
	return list
}

// Clear is ecs.World.Clear for the call op.
func Clear(w *world.World, op string) {
	w.CheckUnlocked(op)
	EndRows(w, op, selectAll(w))
	w.IDs.PutBack()
}
