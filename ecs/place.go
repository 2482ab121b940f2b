package ecs

import (
	"fmt"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
)

// Place says where an entity's values are: in a row of a chunk of an archetype. A
// structural change of the world may move them: the row that goes is replaced by
// the archetype's last.
type Place struct {
	Archetype *Archetype // with exactly the entity's types
	Chunk     int        // as Archetype.Chunk takes it
	Row       int        // of the chunk
}

// String prints the place as "[Position Velocity] chunk 3 row 17", and "nowhere".
func (p Place) String() string {
	if p.Archetype == nil {
		return "nowhere"
	}
	return fmt.Sprintf("%v chunk %d row %d", p.Archetype, p.Chunk, p.Row)
}

// Locate returns where e's values are, or false when e is not alive. It panics for an
// entity of another world. Cost: that of Component.Get.
func (w *World) Locate(e Entity) (Place, bool) {
	r := w.recordOf("World.Locate", e)
	if r == nil {
		return Place{}, false
	}
	a, chunk, at := w.seatOf(r)
	return Place{a, chunk, at.Row}, true
}

// ArchetypesOf writes the archetype of each entity of a list to dst, which is as long: nil
// where it is not alive. It panics for an entity of another world. Their waits for memory
// overlap, so of hundreds in no order it is faster than Locate.
func (w *World) ArchetypesOf(dst []*Archetype, list []Entity) {
	const op = "World.ArchetypesOf"
	if w == nil || w.closed {
		w.refuse(op)
	}
	if len(dst) != len(list) {
		panic(fmt.Sprintf("ecs: %s: %d archetypes for %d entities", op, len(dst), len(list)))
	}
	var at [64]location
	for len(list) > 0 {
		n := min(len(list), len(at))
		for i, e := range list[:n] {
			at[i] = table.Nowhere
			if r := w.find(e); r != nil {
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

// recordOf returns the record of an entity that is alive, else nil; it panics
// for one of another world.
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

// seatOf returns where a record's entity is.
func (w *World) seatOf(r *entity.Record) (a *Archetype, pos int, at alloc.GridRow) {
	o := w.tables.OwnerOf(r.Location)
	return w.archetypeAt(o), o.Pos(), w.tables.RowAt(r.Location, o)
}

// archetypeAt returns the archetype of a chunk's owner.
func (w *World) archetypeAt(o owner) *Archetype {
	// Safe because the owner of a chunk names an archetype (W3): a bounds check would cost
	// every structural change of one entity three instructions.
	return *(**Archetype)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(w.archetypes.list)), uintptr(o.Table())*unsafe.Sizeof(w.archetypes.list[0])))
}
