package snapshot

import (
	"fmt"

	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// Copies of managed values. A snapshot has copies of the values of types with CopyWith, each in a
// store with the slots of then (value.Store.Save). Who calls the program's function, and what if it
// panics:
//
//	Snapshot, Renew   before a layer begins   there is no snapshot; one that was renewed is closed
//	Restore           before anything else    nothing has changed
//	Clone, Fork       before there are rows   the new world is closed
//
// While the function runs, the world refuses what a structural change refuses, and makes no managed
// values: they would have slots that the copy lacks.

// managedCopies are copies of the values of managed types, by TypeID; nil for other types.
type managedCopies []value.Managed

// Of returns the copies of a type's values, or nil.
func (m managedCopies) Of(t *world.Type) value.Managed {
	if int(t.ID) < len(m) {
		return m[t.ID]
	}
	return nil
}

// room returns where copies of a type's values go.
func (m *managedCopies) room(t *world.Type) value.Managed {
	for len(*m) <= int(t.ID) {
		*m = append(*m, nil)
	}
	to := &(*m)[t.ID]
	if *to == nil {
		*to = t.Managed.Fresh()
	}
	return *to
}

// take copies the values of the world, or those of older copies. If a copy function panics, there
// are some copies, which the caller clears.
func (m *managedCopies) take(w *world.World, op string, older *managedCopies) {
	if len(w.Types.Copied) == 0 {
		return
	}
	w.Loops.Enter(op)
	defer w.Loops.Leave()
	for _, t := range w.Types.Copied {
		from := t.Managed
		if older != nil {
			from = older.Of(t)
		}
		if from != nil {
			from.Save(m.room(t))
		}
	}
}

// clear ends the copies and keeps their memory.
func (m managedCopies) clear() {
	for _, c := range m {
		if c != nil {
			c.Clear()
		}
	}
}

// ManagedOf returns the values that a managed type had in the snapshot. It panics for a type
// without CopyWith.
func (s *Snapshot) ManagedOf(op string, t *world.Type) value.Managed {
	c := s.Managed.Of(t)
	if c == nil {
		t.RefuseUncopied(op)
	}
	return c
}

// RefuseManaged returns an error if an archetype, which has rows, has a managed type without
// CopyWith.
func RefuseManaged(a *world.Archetype) error {
	for _, c := range a.Table.Managed() {
		if t := a.World.Types.List[c.Key]; !t.Copies() {
			return fmt.Errorf(
				"%v has rows with values of %s, which a snapshot does not have: register it with ecs.CopyWith",
				a, t.Name)
		}
	}
	return nil
}

// restoreManaged puts the values of the snapshot back, of which the restore has copies. Those that
// came since end.
func (r *restoring) restoreManaged() {
	for _, t := range r.w.Types.Copied {
		if r.s.Managed.Of(t) != nil {
			t.Managed.Restore(r.managed.Of(t))
		} else {
			t.Managed.Clear()
		}
	}
}
