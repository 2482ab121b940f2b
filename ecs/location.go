package ecs

import (
	"fmt"

	"quarry/alloc"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
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

// find returns the record of an entity that is alive in the world, or nil.
func (w *World) find(e Entity) *entity.Record { return w.ids.Find(entity.ID(e)) }

// Alive reports whether e is an entity of this world that was created and not destroyed.
func (w *World) Alive(e Entity) bool { return w.find(e) != nil }

// alive returns the number of living entities.
func (w *World) alive() int { return int(w.rows.Created - w.rows.Destroyed) }

// Entity returns the living entity with the given index and version, as String prints them in a
// log. It returns false if there is none.
func (w *World) Entity(index int, version uint32) (Entity, bool) {
	if uint(index) >= MaxEntities {
		return Null, false
	}
	e := Entity(entity.Make(uint32(index), w.ids.Tag(), version))
	if !w.Alive(e) {
		return Null, false
	}
	return e, true
}

// Owns reports whether e carries the world's tag. If so, e was created by this world, alive or not,
// or by a world with the same tag that was closed before. Any goroutine may call Owns.
func (w *World) Owns(e Entity) bool { return entity.ID(e).Is(w.ids.Tag()) && e.index() != 0 }

// recordOf returns the record of an entity that is alive, or nil. It panics for an entity of
// another world.
func (w *World) recordOf(op string, e Entity) *entity.Record {
	if w == nil {
		w.refuse(op)
	}
	r := w.find(e)
	if r == nil {
		w.checkWorld(op, e)
	}
	return r
}

// checkWorld panics if e carries the tag of another world.
//
//go:noinline
func (w *World) checkWorld(op string, e Entity) {
	w.checkHandle(op)
	w.checkForeign(op, e)
}

// checkForeign is like checkWorld, but accepts a closed world.
func (w *World) checkForeign(op string, e Entity) {
	if e.IsPlaceholder() {
		// errors.md, Entities: `a placeholder names an entity in its command buffer only, until
		// that is played` | A placeholder was given to the world. | Record the call, or play and
		// ask `Buffer.Made`.
		panic(fmt.Sprintf("ecs: %s: %v: a placeholder names an entity in its command buffer only, until that is played", op, e))
	}
	if e != Null && entity.ID(e).Tag() != w.ids.Tag() {
		panic(fmt.Sprintf("ecs: %s: entity %v belongs to another world", op, e))
	}
}

// Locate returns the location of e's values, or false if e is not alive. It panics for an entity of
// another world. Cost: as Component.Get.
func (w *World) Locate(e Entity) (Location, bool) {
	return w.locate("World.Locate", e)
}

func (w *World) locate(op string, e Entity) (Location, bool) {
	r := w.recordOf(op, e)
	if r == nil {
		return Location{}, false
	}
	a, chunk, at := w.rowOf(r)
	return Location{a, chunk, at.Row}, true
}

// archetypesOf implements seam.ArchetypesOf.
func (w *World) archetypesOf(dst []*Archetype, list []Entity) {
	const op = "seam.ArchetypesOf"
	w.checkHandle(op)
	if len(dst) != len(list) {
		panic(fmt.Sprintf("ecs: %s: %d archetypes for %d entities", op, len(dst), len(list)))
	}
	var at [64]location
	for len(list) > 0 {
		n := min(len(list), len(at))
		for i, e := range list[:n] {
			at[i] = table.Nowhere
			if r := w.find(e); r != nil { // recordOf, but for a call
				at[i] = r.Location
			} else {
				w.checkWorld(op, e)
			}
		}
		for i := range dst[:n] {
			dst[i] = nil
			if at[i] != table.Nowhere {
				dst[i] = w.archetypeAt(w.tables.OwnerOf(at[i]))
			}
		}
		dst, list = dst[n:], list[n:]
	}
}

// rowOf returns the archetype, chunk and row that a record leads to.
func (w *World) rowOf(r *entity.Record) (a *Archetype, pos int, at alloc.StoreRow) {
	o := w.tables.OwnerOf(r.Location)
	return w.archetypeAt(o), o.Pos(), o.RowAt(r.Location)
}
