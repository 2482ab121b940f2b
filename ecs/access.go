package ecs

import (
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/world"
)

// Access holds the types of one world that are read and the types that are written. The zero value
// holds none.
type Access struct{ core world.Access }

// Access returns the types that a loop over the query reads or may write. These are the types
// declared with Read and Write, alone and inside other terms. The types whose enable bits decide
// which rows match, and the types of Changed and Between terms, count as read. Other terms add
// nothing, because only structural changes alter which entity has which type or shared value.
func (q *Query) Access() Access { return Access{q.inner().Access()} }

// Conflicts returns the names of the types by which a and b conflict, in order of registration: the
// types that one of them writes and the other reads or writes. It returns nil if they do not
// conflict. A closed world answers too. Conflicts panics for types that the world does not have.
func (w *World) Conflicts(a, b Access) (names []string) {
	return query.Conflicts(w.inner(), a.core, b.core)
}
