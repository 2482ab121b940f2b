package edit

import (
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
	"quarry/internal/store"
)

// Add and Remove of one type for one entity, for handles of all kinds. An archetype caches the
// transition to the archetype with one type more or less (Archetype.LastTransition); the row takes
// that transition in Writer.MoveOne of package change. Changes of several types or many entities
// are in apply.go.

// Add adds the type to e. It returns the address of the component, for the caller to write, or nil
// if e already has the type. It panics with a *LimitError. In Add and Remove every rare case is a
// tail call, so that the common case keeps no registers across calls.
func Add(t *world.Type, op string, e entity.ID) unsafe.Pointer {
	w := t.WorldOrNil()
	w.CheckUnlocked(op)
	r := w.Find(e)
	if r == nil {
		return t.RefuseDead(op, e)
	}
	o := w.Tables.OwnerOf(r.Location)
	a := w.ArchetypeAt(o)
	transition := a.LastTransition
	if a.LastKey != uint32(t.ID)|world.KeyAdds || transition.To.Store.Full() {
		return moveOr(t, op, e, r, a, true)
	}
	dest := transition.To.Store.Tail()
	p := dest.Element(transition.Added.Offset, transition.Added.Size)
	w.Writer.MoveOne(&a.Table.Table, transition, e, r, o)
	return p
}

// TryAdd is like Add but returns the *LimitError.
func TryAdd(t *world.Type, op string, e entity.ID) (unsafe.Pointer, error) {
	w := t.WorldOrNil()
	w.CheckUnlocked(op)
	r := w.Find(e)
	if r == nil {
		return t.RefuseDead(op, e), nil
	}
	p, err := moveSearched(t, e, r, w.ArchetypeAt(w.Tables.OwnerOf(r.Location)), true)
	return p, world.WithOp(op, err)
}

// Remove removes the type from e. removed is false if e is dead or lacks the type.
func Remove(t *world.Type, op string, e entity.ID) (removed bool) {
	w := t.WorldOrNil()
	w.CheckUnlocked(op)
	r := w.Find(e)
	if r == nil {
		return w.PassDead(op, e)
	}
	o := w.Tables.OwnerOf(r.Location)
	a := w.ArchetypeAt(o)
	transition := a.LastTransition
	if a.LastKey != uint32(t.ID) || transition.To.Store.Full() {
		return moveOr(t, op, e, r, a, false) != nil
	}
	w.Writer.MoveOne(&a.Table.Table, transition, e, r, o)
	return true
}

// TryRemove is like Remove but returns the *LimitError.
func TryRemove(t *world.Type, op string, e entity.ID) (removed bool, err error) {
	w := t.WorldOrNil()
	w.CheckUnlocked(op)
	r := w.Find(e)
	if r == nil {
		return w.PassDead(op, e), nil
	}
	p, err := moveSearched(t, e, r, w.ArchetypeAt(w.Tables.OwnerOf(r.Location)), false)
	return p != nil, world.WithOp(op, err)
}

// moveSearched does the work of Add and Remove for an entity of a if the transition is not cached
// or its target is full. It returns nil if there is nothing to do, and otherwise the address of the
// added component.
func moveSearched(t *world.Type, e entity.ID, r *entity.Record, a *world.Archetype, adds bool) (unsafe.Pointer, error) {
	if a.Table.Sig.Has(t.ID) == adds {
		return nil, nil
	}
	if t.ID == world.CleanupEntityID {
		op := "Component.Remove"
		if adds {
			op = "Component.Add"
		}
		panic("ecs: " + op +
			": CleanupEntity comes with World.Destroy and goes with the last Cleanup type; it cannot be added or removed")
	}
	if t.Cleanup && a.Table.Sig.Has(world.CleanupEntityID) && a.IsLastCleanup(t.ID) {
		t.World.Writer.EndOne(&a.Table.Table, e, r, t.World.Tables.OwnerOf(r.Location))
		// Safe because no caller dereferences it: not nil means that the type was removed.
		return unsafe.Pointer(r), nil
	}
	t.World.SweepWhenDue()
	if err := searchEdge(a, t.ID); err != nil {
		return nil, err
	}
	dest := a.LastTransition.To.Store.Tail()
	p := dest.Element(a.LastTransition.Added.Offset, a.LastTransition.Added.Size)
	t.World.Writer.MoveOne(&a.Table.Table, a.LastTransition, e, r, t.World.Tables.OwnerOf(r.Location))
	return p, nil
}

// moveOr is like moveSearched but panics with the error.
//
//go:noinline
func moveOr(t *world.Type, op string, e entity.ID, r *entity.Record, a *world.Archetype, adds bool) unsafe.Pointer {
	p, err := moveSearched(t, e, r, a, adds)
	if err != nil {
		panic(world.WithOp(op, err))
	}
	return p
}

// searchEdge finds the transition to the archetype with id added, or removed if a has it, makes
// room for a row there, and caches the transition. It creates the archetype if there is none. On an
// error nothing has changed.
func searchEdge(a *world.Archetype, id world.TypeID) error {
	before := len(a.World.Archetypes.List)
	transition, err := findTransition(a, id)
	if err == nil && transition.To.Store.Full() {
		err = world.LimitErrorOf(a.World.Writer.Room(transition.To, 1, 0))
	}
	if err != nil {
		a.World.Forget(before)
		return err
	}
	a.LastTransition, a.LastKey = transition, uint32(id)
	if !a.Table.Sig.Has(id) {
		a.LastKey |= world.KeyAdds
	}
	return nil
}

// findTransition is searchEdge without making room.
func findTransition(a *world.Archetype, id world.TypeID) (*world.Transition, error) {
	for _, e := range a.Transitions {
		if e.ID == id {
			return e.Transition, nil
		}
	}
	sig := a.Table.Sig
	if sig.Has(id) {
		sig.Drop(id)
	} else {
		sig.Add(id)
	}
	to, err := a.World.ArchetypeOf(sig, a.World.ValuesFor(make([]*value.Shared, 0, world.UsualValues),
		&sig, nil, a, nil))
	if err != nil {
		return nil, err
	}
	transition := a.TransitionTo(to)
	a.Transitions = append(a.Transitions, world.TypeTransition{ID: id, Transition: transition})
	return transition, nil
}

// MoveBy moves one entity along a transition and clears the components that it gains. On an error
// it forgets the archetypes from index before on.
func MoveBy(w *world.World, op string, transition *world.Transition, e entity.ID, r *entity.Record, before int) (bool,
	error) {
	if transition.To.Store.Full() {
		if err := w.Writer.Room(transition.To, 1, 0); err != nil {
			w.Forget(before)
			return false, world.WithOp(op, world.LimitErrorOf(err))
		}
		if transition.IsToSharedValue() {
			transition.Compute() // its end may have its own layout now, which tells only the transitions that it knows
		}
	}
	w.Writer.MoveOne(transition.From, transition, e, r, w.Tables.OwnerOf(r.Location))
	store.ClearRows(transition.To.Store.LastRow(), 1, transition.Fresh)
	return true, nil
}
