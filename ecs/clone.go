package ecs

import "quarry/ecs/internal/edit"

// Clone creates a world with the same types, archetypes, entities and names. The entity 12v3 is
// 12v3 in the clone, see World.Entity; the same operations on both worlds yield the same ids and
// the same Hash. Queries, changes and other handles are not cloned; Register returns the handles of
// types. Shared and managed values are copied by Go assignment, those of managed types with
// CopyWith by its function; if it panics, there is no clone. Entities in components, buffers and
// shared values refer to entities of the clone. Everything is marked changed.
//
// Clone takes the same options as NewWorld. By default the clone has a universe of its own and w's
// ChunkGrowth. Clone only reads w, and panics inside a loop over rows; no goroutine may reserve ids
// of w meanwhile. An error wraps one from NewWorld or is a *LimitError, and leaves nothing behind.
// Cost: a copy of all rows, plus one word per link.
func (w *World) Clone(options ...Option) (*World, error) {
	const op = "World.Clone"
	w.inner().CheckNew(op)
	checkOptions(op, options)
	made, err := edit.Copied(w.inner(), op, false, onCore(allOf(options)))
	return worldFrom(made), err
}
