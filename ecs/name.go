package ecs

import (
	"fmt"

	"quarry/ecs/internal/entity"
)

// Names of entities are for people to read. They lie in Go memory, outside chunks, in
// ecs/internal/name; a snapshot has the names of its moment. World.Hash does not include names.

// SetName names an entity for people to read, replacing its previous name; "" removes the name.
// Names may be any text of any length and need not be unique. A name ends with its entity. SetName
// returns false and does nothing if e is not alive, and panics for an entity of another world. It
// is not a structural change. Cost: 130 B of Go memory per name of 24 B; the first changes after a
// snapshot copy a few KB each. Worlds without names pay nothing.
func (w *World) SetName(e Entity, text string) bool {
	if w.recordOf("World.SetName", e) == nil {
		return false
	}
	w.checkUnshared("World.SetName")
	if w.names.Len() == 0 && text != "" {
		w.watchEnds()
	}
	w.names.Set(entity.ID(e), text)
	return true
}

// Name returns the name that SetName gave e, or "" if e has none or is not alive.
func (w *World) Name(e Entity) string {
	if w.recordOf("World.Name", e) == nil {
		return ""
	}
	return w.names.Of(e.index())
}

// Named returns the entity with the given name; if several have it, the one that was named last. No
// entity is named "". Cost: one map look-up.
func (w *World) Named(text string) (Entity, bool) {
	if w.closed {
		w.refuse("World.Named")
	}
	e, ok := w.names.Named(text)
	return Entity(e), ok
}

// forgetNames removes the names of entities that end.
func (w *World) forgetNames(ids []entity.ID) {
	for i := 0; i < len(ids) && w.names.Len() > 0; i++ {
		w.names.Remove(ids[i].Index())
	}
}

// verifyNames checks W8.
func (w *World) verifyNames() error {
	for e, text := range w.names.All() {
		if !w.Alive(Entity(e)) {
			return fmt.Errorf("ecs: W8: index %d has the name %q of %v, which is not alive", e.Index(), text, e)
		}
	}
	if err := w.names.Verify(); err != nil {
		return fmt.Errorf("ecs: W8: %w", err)
	}
	return nil
}
