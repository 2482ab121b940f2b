package ecs

import (
	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
)

// Every copy and move of entities other than by structural change: a copy of an entity or a group
// in its world (Instantiate), of a whole world (Clone), and entities that leave one world for
// another (MoveAll, MoveQuery).

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
