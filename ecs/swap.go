package ecs

import (
	"quarry/ecs/internal/edit"
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
	return edit.SwapComponents(w.inner(), entity.ID(a), entity.ID(b))
}
