package ecs

import (
	"fmt"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
)

// Add and Remove of one type for one entity, for handles of all kinds. An archetype caches the
// transition to the archetype with one type more or less (Archetype.edge); the row takes that
// transition in Rows.MoveOne of package change. Changes of several types or many entities are in
// apply.go.

// add adds the type to e. It returns the address of the component, for the caller to write, or nil
// if e already has the type. It panics with a *LimitError. In add and remove every rare case is a
// tail call, so that the common case keeps no registers across calls.
func (t *typeInfo) add(op string, e Entity) unsafe.Pointer {
	w := t.world()
	w.checkUnlocked(op)
	r := w.find(e)
	if r == nil {
		return t.refuseDead(op, e)
	}
	o := w.tables.OwnerOf(r.Location)
	a := w.archetypeAt(o)
	path := a.edge
	if a.edgeKey != uint32(t.id)|edgeAdds || path.To.Store.Full() {
		return t.moveOr(op, e, r, a, true)
	}
	dest := path.To.Store.Tail()
	p := dest.Element(path.Added.Offset, path.Added.Size)
	w.rows.MoveOne(&a.table.Table, path, entity.ID(e), r, o)
	return p
}

// tryAdd is like add but returns the *LimitError.
func (t *typeInfo) tryAdd(op string, e Entity) (unsafe.Pointer, error) {
	w := t.world()
	w.checkUnlocked(op)
	r := w.find(e)
	if r == nil {
		return t.refuseDead(op, e), nil
	}
	p, err := t.moveSearched(e, r, w.archetypeAt(w.tables.OwnerOf(r.Location)), true)
	return p, during(op, err)
}

//go:noinline
func (t *typeInfo) refuseDead(op string, e Entity) unsafe.Pointer {
	t.w.checkWorld(op, e)
	// errors.md, Entities: `is not alive, cannot add` | `Add` to an entity that is gone. | Ask
	// `World.Alive`, or record it: a buffer says which failed.
	panic(fmt.Sprintf("ecs: %s: %v is not alive, cannot add %s", op, e, t.name))
}

// remove removes the type from e. removed is false if e is dead or lacks the type.
func (t *typeInfo) remove(op string, e Entity) (removed bool) {
	w := t.world()
	w.checkUnlocked(op)
	r := w.find(e)
	if r == nil {
		return w.passDead(op, e)
	}
	o := w.tables.OwnerOf(r.Location)
	a := w.archetypeAt(o)
	path := a.edge
	if a.edgeKey != uint32(t.id) || path.To.Store.Full() {
		return t.moveOr(op, e, r, a, false) != nil
	}
	w.rows.MoveOne(&a.table.Table, path, entity.ID(e), r, o)
	return true
}

// tryRemove is like remove but returns the *LimitError.
func (t *typeInfo) tryRemove(op string, e Entity) (removed bool, err error) {
	w := t.world()
	w.checkUnlocked(op)
	r := w.find(e)
	if r == nil {
		return w.passDead(op, e), nil
	}
	p, err := t.moveSearched(e, r, w.archetypeAt(w.tables.OwnerOf(r.Location)), false)
	return p != nil, during(op, err)
}

// passDead checks that a dead entity belongs to w, and returns false.
//
//go:noinline
func (w *World) passDead(op string, e Entity) bool {
	w.checkWorld(op, e)
	return false
}

// moveSearched does the work of add and remove for an entity of a if the transition is not cached
// or its target is full. It returns nil if there is nothing to do, and otherwise the address of the
// added component.
func (t *typeInfo) moveSearched(e Entity, r *entity.Record, a *Archetype, adds bool) (unsafe.Pointer, error) {
	if a.table.Sig.Has(t.id) == adds {
		return nil, nil
	}
	if t.id == dyingID {
		op := "Component.Remove"
		if adds {
			op = "Component.Add"
		}
		panic("ecs: " + op + ": CleanupEntity comes with World.Destroy and goes with the last Cleanup type; it cannot be added or removed")
	}
	if t.cleanup && a.table.Sig.Has(dyingID) && a.isLastCleanup(t.id) {
		t.w.rows.EndOne(&a.table.Table, entity.ID(e), r, t.w.tables.OwnerOf(r.Location))
		// Safe because no caller dereferences it: not nil means that the type was removed.
		return unsafe.Pointer(r), nil
	}
	t.w.sweepWhenDue()
	if err := a.searchEdge(t.id); err != nil {
		return nil, err
	}
	dest := a.edge.To.Store.Tail()
	p := dest.Element(a.edge.Added.Offset, a.edge.Added.Size)
	t.w.rows.MoveOne(&a.table.Table, a.edge, entity.ID(e), r, t.w.tables.OwnerOf(r.Location))
	return p, nil
}

// moveOr is like moveSearched but panics with the error.
//
//go:noinline
func (t *typeInfo) moveOr(op string, e Entity, r *entity.Record, a *Archetype, adds bool) unsafe.Pointer {
	p, err := t.moveSearched(e, r, a, adds)
	if err != nil {
		panic(during(op, err))
	}
	return p
}

// searchEdge finds the transition to the archetype with id added, or removed if a has it, makes
// room for a row there, and caches the transition. It creates the archetype if there is none. On an
// error nothing has changed.
func (a *Archetype) searchEdge(id typeID) error {
	before := len(a.w.archetypes.list)
	path, err := a.findEdge(id)
	if err == nil && path.To.Store.Full() {
		err = refused(a.w.rows.Room(path.To, 1, 0))
	}
	if err != nil {
		a.w.forget(before)
		return err
	}
	a.edge, a.edgeKey = path, uint32(id)
	if !a.table.Sig.Has(id) {
		a.edgeKey |= edgeAdds
	}
	return nil
}

// findEdge is searchEdge without making room.
func (a *Archetype) findEdge(id typeID) (*path, error) {
	for _, e := range a.edges {
		if e.id == id {
			return e.path, nil
		}
	}
	sig := a.table.Sig
	if sig.Has(id) {
		sig.Drop(id)
	} else {
		sig.Add(id)
	}
	to, err := a.w.archetypeOf(sig, a.w.valuesFor(make([]*value.Shared, 0, usualValues), &sig, nil, a, nil))
	if err != nil {
		return nil, err
	}
	path := a.pathTo(to)
	a.edges = append(a.edges, edge{id, path})
	return path, nil
}

// take moves one entity along a transition and clears the components that it gains. On an error it
// forgets the archetypes from index before on.
func (w *World) take(op string, path *path, e Entity, r *entity.Record, before int) (bool, error) {
	if path.To.Store.Full() {
		if err := w.rows.Room(path.To, 1, 0); err != nil {
			w.forget(before)
			return false, during(op, refused(err))
		}
		if path.IsSideways() {
			path.Find() // its end may have its own layout now, which tells only the transitions that it knows
		}
	}
	w.rows.MoveOne(path.From, path, entity.ID(e), r, w.tables.OwnerOf(r.Location))
	alloc.ClearRows(path.To.Store.LastRow(), 1, path.Fresh)
	return true, nil
}
