package ecs

import "quarry/ecs/internal/entity"

// Names of entities are for people to read. They lie in Go memory, outside chunks, in
// ecs/internal/name; a snapshot has the names of its moment. World.Hash does not include names.

// SetName names an entity for people to read, replacing its previous name; "" removes the name.
// Names may be any text of any length and need not be unique. A name ends with its entity. SetName
// returns false and does nothing if e is not alive, and panics for an entity of another world. It
// is not a structural change. Cost: 130 B of Go memory per name of 24 B; the first changes after a
// snapshot copy a few KB each. Worlds without names pay nothing.
func (w *World) SetName(e Entity, text string) bool { return w.inner().SetName(entity.ID(e), text) }

// Name returns the name that SetName gave e, or "" if e has none or is not alive.
func (w *World) Name(e Entity) string { return w.inner().Name(entity.ID(e)) }

// Named returns the entity with the given name; if several have it, the one that was named last. No
// entity is named "". Cost: one map look-up.
func (w *World) Named(text string) (Entity, bool) {
	if w.core.Closed {
		w.inner().Refuse("World.Named")
	}
	e, ok := w.core.Names.Named(text)
	return Entity(e), ok
}
