package world

import (
	"fmt"
	"iter"

	"quarry/ecs/internal/value"
)

// CheckMaking panics while a copy function runs: a value would have a slot that the copy lacks.
//
//go:noinline
func (t *Type) CheckMaking(op string) {
	if t.World.Loops.change != "" {
		panic(t.World.refusal(op))
	}
}

// RefuseMaking panics for a row of a borrow that has no value. A borrow creates no values, because
// other goroutines read the pages that hold them.
//
//go:noinline
func (t *Type) RefuseMaking(b *Lease) {
	panic(
		fmt.Sprintf("ecs: Managed.At: a row of %s has no value of %s yet, and none is made in a borrow: make it before, with Managed.Set",
			b.Name, t.Name))
}

// trimManaged returns the memory of ended managed values to Go.
func (w *World) trimManaged() {
	for _, t := range w.Types.List {
		if t.Kind == KindManaged {
			t.Managed.Trim()
		}
	}
}

// VerifyManaged checks W10 for the managed ones of some types.
func (w *World) VerifyManaged(types []*Type) error {
	for _, t := range types {
		if t.Kind != KindManaged {
			continue
		}
		if err := t.Managed.Verify(t.slots()); err != nil {
			return fmt.Errorf("ecs: W10: %s: %w", t.Name, err)
		}
	}
	return nil
}

// slots yields the slots of all rows of a managed type, chunk by chunk, with the chunk's name.
func (t *Type) slots() iter.Seq2[string, []value.Slot] {
	return func(yield func(string, []value.Slot) bool) {
		for _, a := range t.World.Archetypes.List {
			if !a.Table.Sig.Has(t.ID) {
				continue
			}
			for pos := range a.Table.Store.Chunks() {
				if !yield(fmt.Sprintf("chunk %d of %v", pos, a),
					value.SlotsAt(a.Table.Store.Row(pos, 0), a.Table.Column(t.ID), a.Table.Store.RowsOf(pos))) {
					return
				}
			}
		}
	}
}

// ManagedOf returns the values that a managed type had in the snapshot of the lease. It panics for
// a type without CopyWith.
func (l *Lease) ManagedOf(op string, t *Type) value.Managed {
	if !t.Copies() {
		t.RefuseUncopied(op)
	}
	return l.LookupOf(t).Type.Managed
}

// RefuseUncopied panics for a type without CopyWith.
//
//go:noinline
func (t *Type) RefuseUncopied(op string) {
	panic(fmt.Sprintf("ecs: %s: a snapshot has no values of %s: register it with ecs.CopyWith", op, t.Name))
}

// Copies reports whether the type is a managed one with CopyWith.
func (t *Type) Copies() bool { return t.Kind == KindManaged && t.Managed.Copies() }
