package world

import (
	"reflect"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
)

// ChunkOf returns the registration of a chunk type that follows from the Go type.
func ChunkOf(t reflect.Type) *Type {
	return &Type{
		Go: t, Name: "chunk " + ShortName(t), Align: 1, Kind: KindChunk, Chunk: &table.ChunkType{Bytes: int(t.Size())},
	}
}

// mergesLike reports whether two registrations of a type both have Merge, or none. Functions cannot
// be compared.
func (t *Type) mergesLike(other *Type) bool {
	return t.Kind != KindChunk || (t.Chunk.Merge == nil) == (other.Chunk.Merge == nil)
}

// ValueOf returns the chunk type's value of the chunk with a row of an archetype that has the type.
func (t *Type) ValueOf(at Location) unsafe.Pointer {
	o := t.World.Tables.OwnerOf(at)
	a := t.World.ArchetypeAt(o)
	return a.Table.Metadata.Value(a.Table.Places[t.ID].Slot(), o.Pos())
}

// MutValue marks the chunk type's value of e's chunk and returns it, or nil.
func (t *Type) MutValue(op LookupOp, e entity.ID) unsafe.Pointer {
	if t.Mut(op, e) == nil {
		return nil
	}
	_, at := t.OwnerLookup().LookUp(op, e)
	return t.ValueOf(at)
}

// EachChunkLink calls visit for each entity in the values of a table's chunk types.
func (w *World) EachChunkLink(t *table.Table, visit func(*entity.ID)) {
	t.Metadata.Valued(func(slot uint16, first unsafe.Pointer, stride uintptr) {
		if links := w.Types.List[t.Types[slot]].Links; len(links) > 0 {
			EachEntity(links, first, t.Metadata.Len(), stride, visit)
		}
	})
}
