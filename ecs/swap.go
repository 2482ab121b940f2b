package ecs

import (
	"fmt"

	"quarry/ecs/internal/entity"
)

// SwapComponents exchanges all components of two entities of one archetype: values, buffers,
// managed values and enable bits. It sorts rows, or lets two entities trade places, without a move
// from archetype to archetype. It returns false, and changes nothing, if one of them is not alive.
// It is a structural change: it panics inside a loop over rows, for entities of different
// archetypes, and for an entity of another world. Names and references go on naming the same
// entity, so what others say of the two becomes untrue: swapping members of a hierarchy breaks it
// until its Sweep, and a group follows its LinkedEntity. Cost: no value is copied, since the
// entities change rows: two records and two ids are written, whatever the types.
func (w *World) SwapComponents(a, b Entity) bool {
	const op = "World.SwapComponents"
	w.checkChange(op)
	of, with := w.recordOf(op, a), w.recordOf(op, b)
	if of == nil || with == nil || of == with {
		return of != nil && with != nil
	}
	from, to := w.archetypeAt(w.tables.OwnerOf(of.Location)), w.archetypeAt(w.tables.OwnerOf(with.Location))
	if from != to {
		// errors.md, Entities: `are not of one archetype` | `SwapComponents` of entities with
		// different types or shared values. | `ecs.Into` moves an entity to the archetype of the
		// other.
		panic(fmt.Sprintf("ecs: %s: %v of %v and %v of %v are not of one archetype", op, a, from, b, to))
	}
	for _, t := range w.types.sparse {
		if err := t.makeEntries(0); err != nil {
			panic(during(op, err))
		}
	}
	for _, t := range w.types.sparse {
		t.sparse.Swap(entity.ID(a), entity.ID(b), w.tables.Version)
	}
	w.rows.Swap(&from.table.Table, entity.ID(a), entity.ID(b), of, with)
	return true
}
