package ecs

import (
	"fmt"

	"quarry/ecs/internal/entity"
)

// Location says where an entity's values are: in a row of a chunk of an archetype. A structural
// change of the world may move them, because a row that leaves is replaced by the archetype's last
// row.
type Location struct {
	Archetype *Archetype // has exactly the entity's types
	Chunk     int        // as Archetype.Chunk takes it
	Row       int        // index in the chunk
}

// String returns the location as "[Position Velocity] chunk 3 row 17", or "nowhere".
func (p Location) String() string {
	if p.Archetype == nil {
		return "nowhere"
	}
	return fmt.Sprintf("%v chunk %d row %d", p.Archetype, p.Chunk, p.Row)
}

// Alive reports whether e is an entity of this world that was created and not destroyed.
func (w *World) Alive(e Entity) bool { return w.inner().Alive(entity.ID(e)) }

// Entity returns the living entity with the given index and version, as String prints them in a
// log. It returns false if there is none.
func (w *World) Entity(index int, version uint32) (Entity, bool) {
	made, err := w.inner().Entity(index, version)
	return Entity(made), err
}

// Owns reports whether e carries the world's tag. If so, e was created by this world, alive or not,
// or by a world with the same tag that was closed before. Any goroutine may call Owns.
func (w *World) Owns(e Entity) bool { return entity.ID(e).Is(w.core.IDs.Tag()) && e.index() != 0 }

// Locate returns the location of e's values, or false if e is not alive. It panics for an entity of
// another world. Cost: as Component.Get.
func (w *World) Locate(e Entity) (Location, bool) {
	return w.locate("World.Locate", e)
}

func (w *World) locate(op string, e Entity) (Location, bool) {
	r := w.inner().RecordOf(op, entity.ID(e))
	if r == nil {
		return Location{}, false
	}
	a, chunk, at := w.inner().RowOf(r)
	return Location{archetypeFrom(a), chunk, at.Row}, true
}
