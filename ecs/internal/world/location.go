package world

import (
	"fmt"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
	"quarry/internal/store"
)

// Find returns the record of an entity that is alive in the world, or nil.
func (w *World) Find(e entity.ID) *entity.Record { return w.IDs.Find(e) }

// Alive is ecs.World.Alive.
func (w *World) Alive(e entity.ID) bool { return w.Find(e) != nil }

// Living returns the number of living entities.
func (w *World) Living() int { return int(w.Writer.Created - w.Writer.Destroyed) }

// Entity is ecs.World.Entity.
func (w *World) Entity(index int, version uint32) (entity.ID, bool) {
	if uint(index) >= entity.MaxIDs {
		return Null, false
	}
	e := entity.Make(uint32(index), w.IDs.Tag(), version)
	if !w.Alive(e) {
		return Null, false
	}
	return e, true
}

// RecordOf returns the record of an entity that is alive, or nil. It panics for an entity of
// another world.
func (w *World) RecordOf(op string, e entity.ID) *entity.Record {
	if w == nil {
		w.Refuse(op)
	}
	r := w.Find(e)
	if r == nil {
		w.CheckWorld(op, e)
	}
	return r
}

// CheckWorld panics if e carries the tag of another world.
//
//go:noinline
func (w *World) CheckWorld(op string, e entity.ID) {
	w.CheckHandle(op)
	w.checkForeign(op, e)
}

// checkForeign is like CheckWorld, but accepts a closed world.
func (w *World) checkForeign(op string, e entity.ID) {
	if e.IsPlaceholder() {
		panic(fmt.Sprintf("ecs: %s: %v: a placeholder names an entity in its command buffer only, until that is played",
			op, e))
	}
	if e != Null && e.Tag() != w.IDs.Tag() {
		panic(fmt.Sprintf("ecs: %s: entity %v belongs to another world", op, e))
	}
}

// ArchetypesOf implements door.ArchetypesOf.
func (w *World) ArchetypesOf(dst []*Archetype, list []entity.ID) {
	const op = "door.ArchetypesOf"
	w.CheckHandle(op)
	if len(dst) != len(list) {
		panic(fmt.Sprintf("ecs: %s: %d archetypes for %d entities", op, len(dst), len(list)))
	}
	var at [64]Location
	for len(list) > 0 {
		n := min(len(list), len(at))
		for i, e := range list[:n] {
			at[i] = table.Nowhere
			if r := w.Find(e); r != nil { // RecordOf, but for a call
				at[i] = r.Location
			} else {
				w.CheckWorld(op, e)
			}
		}
		for i := range dst[:n] {
			dst[i] = nil
			if at[i] != table.Nowhere {
				dst[i] = w.ArchetypeAt(w.Tables.OwnerOf(at[i]))
			}
		}
		dst, list = dst[n:], list[n:]
	}
}

// RowOf returns the archetype, chunk and row that a record leads to.
func (w *World) RowOf(r *entity.Record) (a *Archetype, pos int, at store.Row) {
	o := w.Tables.OwnerOf(r.Location)
	return w.ArchetypeAt(o), o.Pos(), o.RowAt(r.Location)
}

// RefuseDead panics for a dead entity that was to get the type.
//
//go:noinline
func (t *Type) RefuseDead(op string, e entity.ID) unsafe.Pointer {
	t.World.CheckWorld(op, e)
	panic(fmt.Sprintf("ecs: %s: %v is not alive, cannot add %s", op, e, t.Name))
}

// PassDead checks that a dead entity belongs to w, and returns false.
//
//go:noinline
func (w *World) PassDead(op string, e entity.ID) bool {
	w.CheckWorld(op, e)
	return false
}
