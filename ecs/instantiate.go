package ecs

import (
	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
)

// Instantiate creates a copy of e and returns it: a new entity with e's components, enable bits,
// shared values and buffers with their elements, but without Prefab, Cleanup types and a name.
// Entity values in e's components and buffers that refer to e refer to the copy in the copy; all
// other entity values stay.
//
// If e has a buffer of LinkedEntity, Instantiate copies the members of the group too, each once,
// except for members that are dead or have the tag CleanupEntity. Entity values in the copies that
// refer to a member then refer to its copy. Instantiate panics if e is not alive or has the tag
// CleanupEntity, inside a loop over rows, and with a *LimitError if there is no room.
func (w *World) Instantiate(e Entity) Entity {
	return Entity(edit.Instantiate(w.inner(), entity.ID(e)))
}

// TryInstantiate is like Instantiate but returns the *LimitError; nothing has changed then.
func (w *World) TryInstantiate(e Entity) (Entity, error) {
	made, err := edit.TryInstantiate(w.inner(), entity.ID(e))
	return Entity(made), err
}

// InstantiateN creates n copies of e, as n calls of Instantiate would. The batch holds the n copies
// of e, followed by the n copies of each member of its group, in order. Either all are created or
// none; an error is a *LimitError. InstantiateN panics like Instantiate, and for a negative n.
// Cost: per column for entities without links and spilled buffers, plus the ids.
func (w *World) InstantiateN(e Entity, n int) (Batch, error) {
	made, err := edit.InstantiateLinked(w.inner(), "World.InstantiateN", entity.ID(e), n)
	return Batch{made}, err
}

// InstantiateGroup creates n copies of the entities of a group. Entity values within the group that
// refer to members refer to the corresponding copies in each copy. The batch holds the n copies of
// the first entity, then the n copies of the second, and so on. The entities' own LinkedEntity
// buffers do not extend the group. InstantiateGroup panics for each entity like InstantiateN, and
// for an entity that is in the group twice.
func (w *World) InstantiateGroup(group []Entity, n int) (Batch, error) {
	made, err := edit.InstantiateGroup(w.inner(), idsOf(group), n)
	return Batch{made}, err
}
