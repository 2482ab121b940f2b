package world

import (
	"reflect"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
)

// ValueOf returns the value of a type of an entity with a record.
func (w *World) ValueOf(r *entity.Record, e entity.ID, info *Type) any {
	if info.Kind == KindShared {
		if v := w.ArchetypeAt(w.Tables.OwnerOf(r.Location)).ValueOf(info.ID); v != nil {
			return v.Any()
		}
		return nil
	}
	if info.Kind == KindSparse {
		if at := info.Sparse.At(e); at != nil {
			return info.ValueAt(at)
		}
		return nil
	}
	p, at := info.OwnerLookup().LookUp(OpHas, e)
	if p == nil {
		return nil
	}
	if info.Kind == KindChunk {
		p = info.ValueOf(at)
	}
	return info.ValueAt(p)
}

// ValueAt returns a copy of the value at the type's place in a row, which is a header of a buffer
// and a slot of a managed type.
func (t *Type) ValueAt(at unsafe.Pointer) any {
	switch t.Kind {
	case KindBuffer:
		return t.elements((*value.Header)(at)) // Safe because a buffer's column has headers.
	case KindManaged:
		if at = t.Managed.At(*(*value.Slot)(at)); at == nil { // Safe because a managed type's column has slots.
			return nil
		}
	}
	return reflect.NewAt(t.Go, at).Elem().Interface()
}

// elements returns a copy of a buffer's elements, as a slice of their type.
func (t *Type) elements(h *value.Header) any {
	n := h.Len()
	all := reflect.MakeSlice(reflect.SliceOf(t.Go), n, n)
	if bytes := n * t.Shape.Element; bytes > 0 {
		// Safe because both have n elements, which hold no Go pointers.
		value.Move(unsafe.Slice((*byte)(all.UnsafePointer()), bytes), unsafe.Slice((*byte)(t.Spill.Elements(h)), bytes))
	}
	return all.Interface()
}
