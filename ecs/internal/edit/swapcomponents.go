package edit

import (
	"fmt"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
)

// SwapComponents is ecs.World.SwapComponents.
func SwapComponents(w *world.World, a, b entity.ID) bool {
	const op = "World.SwapComponents"
	w.CheckChange(op)
	of, with := w.RecordOf(op, a), w.RecordOf(op, b)
	if of == nil || with == nil || of == with {
		return of != nil && with != nil
	}
	from, to := w.ArchetypeAt(w.Tables.OwnerOf(of.Location)), w.ArchetypeAt(w.Tables.OwnerOf(with.Location))
	if from != to {
		panic(fmt.Sprintf("ecs: %s: %v of %v and %v of %v are not of one archetype", op, a, from, b, to))
	}
	for _, t := range w.Types.Sparse {
		if err := t.MakeEntries(0); err != nil {
			panic(world.WithOp(op, err))
		}
	}
	for _, t := range w.Types.Sparse {
		t.Sparse.Swap(a, b, w.Tables.Version)
	}
	w.Writer.Swap(&from.Table.Table, a, b, of, with)
	return true
}
