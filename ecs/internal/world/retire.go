package world

import (
	"slices"

	"quarry/ecs/internal/table"
)

// Retiring archetypes. An archetype without rows that NewArchetype has not returned can be removed
// from the world: when the call that created it fails, by Shrink, and when many archetypes exist
// for values that no entity has any more. A retired archetype forwards every call to its
// replacement in the world, see Archetype.Current.

// Retire removes from the world the archetypes for which goes returns true, which must have no
// rows, and returns their number. Those that snapshots have stay. The others keep their order.
// Cost: for each archetype of the world, and each chunk of the archetypes after the first one
// removed.
func (w *World) Retire(goes func(*Archetype) bool) (n int) {
	for _, a := range w.Archetypes.List {
		if (w.History == nil || !w.History.Has(a)) && goes(a) {
			a.giveUp()
			n++
		}
	}
	if n == 0 {
		return 0
	}
	w.Index.Leave()
	w.Archetypes.leave()
	for _, a := range w.Archetypes.List {
		a.Table.Forget()
		a.Transitions = slices.DeleteFunc(a.Transitions, func(e TypeTransition) bool { return e.Transition.IsClosed() })
		if a.LastTransition != nil && a.LastTransition.IsClosed() {
			a.LastTransition, a.LastKey = nil, NoKey
		}
		if a.Copies != nil && a.Copies.IsClosed() {
			a.Copies = nil
		}
	}
	w.QueryEpochs.NextMatched()
	return n
}

// giveUp releases everything that an archetype without rows has, except its types and values.
func (a *Archetype) giveUp() {
	for _, id := range a.Table.Types {
		t := a.World.Types.List[id]
		t.Ordered = table.Later(t.Ordered, a.Table.Metadata.Latest())
	}
	delete(a.World.IDSums, a)
	a.Table.Close()
	for _, v := range a.Values {
		v.LetGo()
	}
	a.Transitions, a.LastTransition, a.LastKey, a.Copies, a.Into, a.alike = nil, nil, NoKey, nil, nil, nil
}

// Forget removes the archetypes created last, which have no rows, until keep are left.
func (w *World) Forget(keep int) {
	if len(w.Archetypes.List) > keep {
		w.Retire(func(a *Archetype) bool { return int(a.Table.Index) >= keep })
	}
}

// Sweep retires archetypes with shared values that have no rows, and sets the number at which the
// next sweep is due.
func (w *World) Sweep() {
	w.Retire(func(a *Archetype) bool { return len(a.Values) > 0 && a.Table.Store.Len() == 0 && !a.Pinned })
	w.Archetypes.mostValued = 2*w.Archetypes.Valued + leastSwept
}

// CheckChange panics inside a loop over rows, and sweeps when a sweep is due.
func (w *World) CheckChange(op string) {
	w.CheckUnlocked(op)
	w.SweepWhenDue()
}

// SweepWhenDue retires archetypes without rows once they are many.
func (w *World) SweepWhenDue() {
	if w.Archetypes.Valued > w.Archetypes.mostValued {
		w.Sweep()
	}
}

// SweepBut is SweepWhenDue for a call that is about to add rows to a, which may have none yet.
func (w *World) SweepBut(a *Archetype) {
	if w.Archetypes.Valued > w.Archetypes.mostValued {
		pinned := a.Pinned
		a.Pinned = true
		w.Sweep()
		a.Pinned = pinned
	}
}
