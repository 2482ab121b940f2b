package ecs

import (
	"slices"

	"quarry/ecs/internal/table"
)

// Retiring archetypes. An archetype without rows that NewArchetype has not returned can be removed
// from the world: when the call that created it fails, by Shrink, and when many archetypes exist
// for values that no entity has any more. A retired archetype forwards every call to its
// replacement in the world, see Archetype.again.

// retire removes from the world the archetypes for which goes returns true, which must have no
// rows, and returns their number. Those that snapshots have stay. The others keep their order. Cost: for each archetype of the
// world, and each chunk of the archetypes after the first one removed.
func (w *World) retire(goes func(*Archetype) bool) (n int) {
	for _, a := range w.archetypes.list {
		if !w.history.has(a) && goes(a) {
			a.giveUp()
			n++
		}
	}
	if n == 0 {
		return 0
	}
	w.index.Leave()
	w.archetypes.leave()
	for _, a := range w.archetypes.list {
		a.table.Forget()
		a.edges = slices.DeleteFunc(a.edges, func(e edge) bool { return e.path.IsClosed() })
		if a.edge != nil && a.edge.IsClosed() {
			a.edge, a.edgeKey = nil, noEdge
		}
		if a.copies != nil && a.copies.IsClosed() {
			a.copies = nil
		}
	}
	w.news.match()
	return n
}

// giveUp releases everything that an archetype without rows has, except its types and values.
func (a *Archetype) giveUp() {
	for _, id := range a.table.Types {
		t := a.w.types.list[id]
		t.ordered = table.Later(t.ordered, a.table.Books.Latest())
	}
	a.table.Close()
	for _, v := range a.values {
		v.LetGo()
	}
	a.edges, a.edge, a.edgeKey, a.copies, a.into, a.alike = nil, nil, noEdge, nil, nil, nil
}

// forget removes the archetypes created last, which have no rows, until keep are left.
func (w *World) forget(keep int) {
	if len(w.archetypes.list) > keep {
		w.retire(func(a *Archetype) bool { return int(a.table.Index) >= keep })
	}
}

// sweep retires archetypes with shared values that have no rows, and sets the number at which the
// next sweep is due.
func (w *World) sweep() {
	w.retire(func(a *Archetype) bool { return len(a.values) > 0 && a.table.Store.Len() == 0 && !a.pinned })
	w.archetypes.mostValued = 2*w.archetypes.valued + leastSwept
}

// checkChange panics inside a loop over rows, and sweeps when a sweep is due.
func (w *World) checkChange(op string) {
	w.checkUnlocked(op)
	w.sweepWhenDue()
}

func (w *World) sweepWhenDue() {
	if w.archetypes.valued > w.archetypes.mostValued {
		w.sweep()
	}
}

// sweepBut is sweepWhenDue for a call that is about to add rows to a, which may have none yet.
func (w *World) sweepBut(a *Archetype) {
	if w.archetypes.valued > w.archetypes.mostValued {
		pinned := a.pinned
		a.pinned = true
		w.sweep()
		a.pinned = pinned
	}
}
