package ecs

import (
	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
)

// The end of entities: Destroy of one, of those that match a query or are in a list, and Clear of
// all. Entities with Cleanup types stay until the last of those types is removed.

// Destroy destroys an entity and everything it holds. It returns false and does nothing if e is not
// alive; destroying an entity twice, or Null, is not an error. An entity with Cleanup types stays
// alive with those types and CleanupEntity. Destroying it again returns false, and does not touch
// group members that it gained meanwhile. An entity with LinkedEntity takes the members of its
// group along. Destroy panics inside a loop over rows, for an entity of another world, and with a
// *LimitError if there is no room for an entity that Cleanup keeps.
func (w *World) Destroy(e Entity) bool { return edit.Destroy(w.inner(), entity.ID(e)) }

// DestroyQuery destroys every entity that matches q, as Destroy does. It returns the number of
// entities destroyed, including members of groups. Either all are destroyed or none. It panics like
// Destroy, and for a query of another world. Changed and Ordered terms of q compare with its Since,
// which does not advance. Cost: per chunk if all rows of an archetype match, except for the ids.
func (w *World) DestroyQuery(q *Query) int { return edit.DestroyQuery(w.inner(), q.inner()) }

// DestroyList destroys the entities of a list, in any order, as DestroyQuery does, and returns the
// number destroyed. It skips dead entities and duplicates. It panics for an entity of another
// world, and then destroys nothing.
func (w *World) DestroyList(list []Entity) int {
	w.inner().CheckChange("World.DestroyList")
	n, err := edit.DestroyRows(w.inner(), "World.DestroyList",
		edit.WithGroups(w.inner(), edit.SelectList(w.inner(), "World.DestroyList", idsOf(list), false)))
	if err != nil {
		panic(err)
	}
	return n
}

// Clear destroys every entity, including hidden entities and entities with Cleanup types, of which
// nothing remains. Types, archetypes, queries and versions stay: old entities are dead, and indices
// are reused from the lowest on. Clear panics inside a loop over rows.
func (w *World) Clear() { edit.Clear(w.inner(), "World.Clear") }
