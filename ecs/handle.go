package ecs

import (
	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/world"
)

// handle points to a world's Type of a registered type. Component, Buffer, Managed and Chunk embed
// it. The methods here do not depend on T, so they are compiled once. Every handle type gets a
// wrapper for each method of an embedded type, so handle has no other methods.
type handle struct{ t *world.Type }

func (h handle) info() *world.Type { return h.t }

func (h handle) operand() query.Operand { return query.Operand{Type: h.t} }

// String returns the type's name. The name of a buffer is [] followed by the element's name; the
// name of a managed type begins with "managed".
func (h handle) String() string {
	if h.t == nil {
		return "unregistered"
	}
	return h.t.Name
}

// Has reports whether e is alive and has the type, enabled or disabled.
func (h handle) Has(e Entity) bool {
	p, _ := h.t.OwnerLookup().LookUp(world.OpHas, entity.ID(e))
	return p != nil
}

// Remove removes the type from e, along with the elements of a buffer or the managed value. It
// returns false if e is not alive or does not have the type, and panics like Component.Add.
func (h handle) Remove(e Entity) bool { return edit.Remove(h.t, "Component.Remove", entity.ID(e)) }

// In reports whether the rows' chunk has the type. The answer varies for types in Optional and Any,
// and for batches that span several archetypes. In panics for a type that the query does not
// declare.
func (h handle) In(rows Rows) bool { return rows.core.In(h.t, "Component.In") }

// Changed reports whether the component may have changed in the rows' chunk after the given
// version. It may have changed if its column was opened for writing, if it was enabled or disabled,
// or if rows entered the chunk. For version 0 Changed returns true. It panics like Component.Slice,
// and returns false if the chunk lacks an Optional type.
func (h handle) Changed(rows Rows, since uint32) bool {
	p, ok := rows.core.PlaceOf(h.t, "Component.Changed")
	return ok &&
		world.Newer(rows.core.Scan.Binding.Archetype.Table.Metadata.Changed(p.Slot(), rows.core.Scan.Pos), since)
}

// Mark marks the component changed in the rows' chunk, as Component.Slice does. It panics if the
// query does not declare the type with Write.
func (h handle) Mark(rows Rows) { rows.core.Mark(h.t) }

// handleOf returns a handle of the type without its Go type. A snapshot's copy of a type has the
// handle of the world's, which is the one that readers may use.
func handleOf(t *world.Type) Type {
	if t.Live != nil {
		t = t.Live
	}
	switch t.Kind {
	case KindSparse:
		return sparseHandle{t}
	case KindChunk:
		return handle{t}
	}
	return enableHandle{handle{t}}
}
