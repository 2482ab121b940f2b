package world

import (
	"fmt"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
)

// Values written by code that knows no Go type: the counterpart of World.Value, for package scene.

// SharedOf returns a value of a shared type.
func (w *World) SharedOf(op string, info *Type, x any) SharedValue {
	w.CheckOwn(op, info)
	return SharedValue{info, info.Shared.OfAny(x)}
}

// AnyValue returns the address of e's value of a component, a managed, a sparse or a chunk type,
// for writing, and marks it changed; nil if e is not alive or lacks the type.
func (t *Type) AnyValue(op string, e entity.ID) unsafe.Pointer {
	if t.Kind == KindSparse {
		return t.MutSparse(op, e)
	}
	p := t.Mut(OpMut, e)
	switch {
	case p == nil:
	case t.Kind == KindManaged:
		slot := (*value.Slot)(p) // Safe because a managed type's column holds slots.
		if *slot == 0 {
			t.CheckMaking(op)
			*slot = t.Managed.Take()
		}
		p = t.Managed.At(*slot)
	case t.Kind == KindChunk:
		_, at := t.OwnerLookup().LookUp(OpMut, e)
		p = t.ValueOf(at)
	}
	return p
}

// VisitLinks calls visit for each entity in e's value of a type that is not shared, in order, which
// may replace it; of a buffer, for those in its elements. It marks the type changed. It returns
// false if e is not alive or lacks the type.
func (w *World) VisitLinks(op string, e entity.ID, info *Type, visit func(*entity.ID)) bool {
	w.CheckOwn(op, info)
	if info.Kind == KindBuffer {
		b, ok := info.Open(OpBufferMut, e, true)
		if !ok {
			return false
		}
		h := b.Writable(op)
		EachEntity(info.Links, info.Spill.Elements(h), h.Len(), uintptr(info.Shape.Element), visit)
		return true
	}
	if info.Kind == KindShared {
		panic(fmt.Sprintf("ecs: %s: %s is a shared type, whose entities are not to be replaced", op, info.Name))
	}
	p := info.AnyValue(op, e)
	if p != nil {
		EachEntity(info.Links, p, 1, 0, visit)
	}
	return p != nil
}

// SetEnabled sets e's enable bit of a type.
func (w *World) SetEnabled(op string, e entity.ID, info *Type, on bool) bool {
	w.CheckOwn(op, info)
	if info.Kind == KindSparse {
		return info.SwitchSparse(op, e, on)
	}
	return info.OwnerLookup().TableOrNil().Switch(e, on)
}

// EnabledOf reports whether e has a type, enabled.
func (w *World) EnabledOf(op string, e entity.ID, info *Type) bool {
	w.CheckOwn(op, info)
	if info.Kind == KindSparse {
		at := info.EntryOf(op, e)
		return at != 0 && info.Sparse.Enabled(at)
	}
	return info.OwnerLookup().Enabled("Component.Enabled", e)
}

// SetTag gives a world that has no entities the tag with a number, which others may have too.
func (w *World) SetTag(op string, number uint32) {
	if w.Closed || w.Writer.Created != 0 || w.IDs.Records() > 0 || w.IDs.Reserved() > 0 || w.History != nil {
		panic("ecs: " + op + ": the world has had entities, or is closed")
	}
	w.IDs.Apart(0) // what is made of this world does not depend on others
	to := entity.TagOf(number)
	if own := w.IDs.Tag(); own != to {
		Tags.Free(own)
		Tags.Share(to)
		w.IDs.SetTag(to)
		w.SetLookupRecords(w.IDs.View())
	}
}
