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

// fork is Clone, but the copy has w's tag: 12v3 of w is the same entity value as 12v3 of the copy,
// so each of the two worlds takes the other's entities as its own, and no call can tell whose they
// are. The tag is free again when both are closed.
func (w *World) fork(options ...Option) (*World, error) {
	made, err := edit.Copied(w.inner(), "World.fork", true, onCore(allOf(options)))
	return worldFrom(made), err
}
