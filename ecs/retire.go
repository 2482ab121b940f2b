package ecs

import "slices"

// Archetypes that go. One without rows that nobody has from NewArchetype can be taken out
// of the world: by the call that made it and then failed, by Shrink, and when there are many
// that were made for values that no entity has any more. Whoever holds such an archetype
// need not know: what it is asked for it has the one do that the world has in its place, see again.

// retire takes archetypes without rows out of the world; it returns how many. The others
// keep their order. Cost: for each archetype of the world, and each chunk of those that
// come after one that goes.
func (w *World) retire(goes func(*Archetype) bool) (n int) {
	for _, a := range w.archetypes.list {
		if goes(a) {
			a.giveUp()
			n++
		}
	}
	if n == 0 {
		return 0
	}
	w.index.Leave()
	w.archetypes.list = slices.DeleteFunc(w.archetypes.list, func(a *Archetype) bool { return a.table.Closed })
	clear(w.archetypes.byKey)
	for _, a := range w.archetypes.list {
		a.alike = w.archetypes.byKey[a.key]
		w.archetypes.byKey[a.key] = a
		a.table.Forget()
		a.edges = slices.DeleteFunc(a.edges, func(e edge) bool { return e.path.IsClosed() })
		if a.edge != nil && a.edge.IsClosed() {
			a.edge, a.edgeKey = nil, noEdge
		}
	}
	w.changeMatches()
	return n
}

// giveUp ends what an archetype without rows has, but its types and values.
func (a *Archetype) giveUp() {
	w := a.w
	a.table.Close()
	for _, v := range a.values {
		v.LetGo()
	}
	if len(a.values) > 0 {
		w.archetypes.valued--
	}
	a.edges, a.edge, a.edgeKey, a.adopt, a.alike = nil, nil, noEdge, nil, nil
}

// forget takes the archetypes that were made last, and have no rows, out again
// until keep are left.
func (w *World) forget(keep int) {
	if len(w.archetypes.list) > keep {
		w.retire(func(a *Archetype) bool { return int(a.table.Index) >= keep })
	}
}

// sweep gives up the archetypes of values that have no rows, when many may have none.
func (w *World) sweep() {
	w.retire(func(a *Archetype) bool { return len(a.values) > 0 && a.table.Grid.Len() == 0 && !a.pinned })
	w.archetypes.mostValued = 2*w.archetypes.valued + leastSwept
}

// leastSwept is how many archetypes with values there may be before those without rows
// are looked for: the search costs some ns for each archetype of the world.
const leastSwept = 64

// checkChange panics during iteration, and sweeps when that is due.
func (w *World) checkChange(op string) {
	w.checkUnlocked(op)
	w.sweepWhenDue()
}

func (w *World) sweepWhenDue() {
	if w.archetypes.valued > w.archetypes.mostValued {
		w.sweep()
	}
}

// sweepBut is sweepWhenDue for a call that brings rows to an archetype without any.
func (w *World) sweepBut(a *Archetype) {
	if w.archetypes.valued > w.archetypes.mostValued {
		pinned := a.pinned
		a.pinned = true
		w.sweep()
		a.pinned = pinned
	}
}

// again returns the archetype of the same types and values that the world has, which is a
// unless it was given up. It makes one when there is none.
func (a *Archetype) again() (*Archetype, error) {
	if !a.table.Closed {
		return a, nil
	}
	return a.w.archetypeOf(a.table.Sig, a.w.valuesFor(&a.table.Sig, a.values, nil, nil))
}

// now is again that makes none: where the world has no such archetype it returns a.
func (a *Archetype) now() *Archetype {
	if a.table.Closed {
		values := a.w.valuesFor(&a.table.Sig, a.values, nil, nil)
		if b := a.w.withKey(a.w.keyOf(&a.table.Sig, values), &a.table.Sig, values); b != nil {
			return b
		}
	}
	return a
}
