package ecs

import (
	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
)

// MoveResult is the result of a move from another world.
type MoveResult struct {
	Batch    // the rows, in their new places
	arrivals edit.Arrivals
}

// Of returns the new Entity of an entity of the old world, or Null if it was not moved.
func (m *MoveResult) Of(old Entity) Entity { return Entity(m.arrivals.Of(entity.ID(old))) }

// MoveAll moves all entities of another world to w, as new entities of w, with their components,
// enable bits, buffers, shared values and names. Shared values that are equal to one of w become
// that value. Entity values in components and in elements of buffers are rewritten: those that
// refer to a moved entity refer to its new identity; those that refer to any other entity of the
// old world, alive or dead, become Null; all others stay, including those that refer to dead
// entities of w.
//
// Either all entities move or none; an error is a *LimitError. MoveAll panics for w itself, while
// either world is in a loop or shared, and for a type that both worlds registered with different
// options. Types that w lacks are registered, and stay. Cost: if both worlds are in one universe,
// chunks change hands and only entity values are rewritten; otherwise rows are copied.
func (w *World) MoveAll(from *World) (MoveResult, error) {
	var m MoveResult
	b, err := edit.MoveAll(w.inner(), from.inner(), &m.arrivals)
	m.Batch = Batch{b}
	return m, err
}

// MoveQuery moves the entities that match a query of another world to w; see MoveAll. Changed and
// Ordered terms of q compare with its Since, which does not advance.
func (w *World) MoveQuery(q *Query) (MoveResult, error) {
	var m MoveResult
	err := w.moveQuery(q, &m)
	return m, err
}

// moveQuery is MoveQuery that reuses what the result of an earlier move has.
func (w *World) moveQuery(q *Query, m *MoveResult) (err error) {
	b, err := edit.MoveMatches(w.inner(), q.inner(), &m.arrivals)
	m.Batch = Batch{b}
	return err
}
