package world

import (
	"fmt"

	"quarry/ecs/internal/entity"
)

// SwapComponents is ecs.World.SwapComponents.
func (w *World) SwapComponents(a, b entity.ID) bool {
	const op = "World.SwapComponents"
	w.CheckChange(op)
	of, with := w.RecordOf(op, a), w.RecordOf(op, b)
	if of == nil || with == nil || of == with {
		return of != nil && with != nil
	}
	from, to := w.ArchetypeAt(w.Tables.OwnerOf(of.Location)), w.ArchetypeAt(w.Tables.OwnerOf(with.Location))
	if from != to {
		// errors.md, Entities: `are not of one archetype` | `SwapComponents` of entities with
		// different types or shared values. | `ecs.Into` moves an entity to the archetype of the
		// other.
		panic(fmt.Sprintf("ecs: %s: %v of %v and %v of %v are not of one archetype", op, a, from, b, to))
	}
	for _, t := range w.Types.sparse {
		if err := t.makeEntries(0); err != nil {
			panic(During(op, err))
		}
	}
	for _, t := range w.Types.sparse {
		t.Sparse.Swap(a, b, w.Tables.Version)
	}
	w.Rows.Swap(&from.Table.Table, a, b, of, with)
	return true
}
