package ecs

import (
	"iter"

	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/query"
)

// Batch is the rows that one call created, as CreateN, or moved, as Change.ApplyQuery. It is valid
// until the next structural change of the world.
type Batch struct{ core edit.Batch }

// Len returns the number of entities.
func (b Batch) Len() int { return b.core.N }

// Rows yields the batch's rows, one span per chunk. Every column may be written, and every row of a
// span belongs to the batch. Rows locks the world as Query.Rows does, and panics after another
// structural change.
func (b Batch) Rows() iter.Seq[Rows] {
	return func(yield func(Rows) bool) { b.core.Walk("Batch.Rows", coreYield(yield)) }
}

// Entities appends the batch's entities to dst. It panics like Rows.
func (b Batch) Entities(dst []Entity) []Entity {
	b.core.Walk("Batch.Entities", func(rows query.Rows) bool {
		dst = append(dst, entitiesOf(rows.Entities())...)
		return true
	})
	return dst
}
