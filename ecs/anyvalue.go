package ecs

import (
	"fmt"
	"reflect"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
)

// Values written by code that knows no Go type: the counterpart of World.Value, for package scene.

// setAny makes e's value of a type what x says, a value of the Go type, or a slice of it for a
// buffer, and marks it changed. It returns false if e is not alive or lacks the type. A shared
// value moves the row.
func (w *World) setAny(op string, e Entity, t Type, x any) (bool, error) {
	info := infoOf(op, t)
	w.checkOwn(op, info)
	want := info.rtype
	if info.kind == KindBuffer {
		want = reflect.SliceOf(want)
	}
	v := reflect.ValueOf(x)
	if !v.IsValid() || v.Type() != want && want.Kind() != reflect.Interface {
		// errors.md, Types, terms and handles: `a value of ... is a ..., not a ...` | Code that
		// knows no Go type gives a value of another one. | A value of the type that `InfoOf` tells.
		panic(fmt.Sprintf("ecs: %s: a value of %s is a %v, not a %T", op, info.name, want, x))
	}
	switch info.kind {
	case KindShared:
		if !(handle{info}).Has(e) {
			return false, nil
		}
		return NewChange(w, Put(w.sharedOf(op, info, x))).Apply(e)
	case KindBuffer:
		b, ok := info.open(opBufferMut, e, true)
		if !ok {
			return false, nil
		}
		return true, b.copyFrom(op, v.UnsafePointer(), v.Len())
	}
	p := info.anyValue(op, e)
	if p == nil {
		return false, nil
	}
	reflect.NewAt(info.rtype, p).Elem().Set(v) // Safe because p points to a value of the type.
	return true, nil
}

// sharedOf returns a value of a shared type.
func (w *World) sharedOf(op string, info *typeInfo, x any) SharedValue {
	w.checkOwn(op, info)
	return SharedValue{info, info.shared.OfAny(x)}
}

// anyValue returns the address of e's value of a component, a managed, a sparse or a chunk type,
// for writing, and marks it changed; nil if e is not alive or lacks the type.
func (t *typeInfo) anyValue(op string, e Entity) unsafe.Pointer {
	if t.kind == KindSparse {
		return t.mutSparse(op, e)
	}
	p := t.mut(opMut, e)
	switch {
	case p == nil:
	case t.kind == KindManaged:
		slot := (*value.Slot)(p) // Safe because a managed type's column holds slots.
		if *slot == 0 {
			t.checkMaking(op)
			*slot = t.managed.Take()
		}
		p = t.managed.At(*slot)
	case t.kind == KindChunk:
		_, at := t.own().find(opMut, e)
		p = t.valueOf(at)
	}
	return p
}

// visitLinks calls visit for each entity in e's value of a type that is not shared, in order, which
// may replace it; of a buffer, for those in its elements. It marks the type changed. It returns
// false if e is not alive or lacks the type.
func (w *World) visitLinks(op string, e Entity, t Type, visit func(*Entity)) bool {
	info := infoOf(op, t)
	w.checkOwn(op, info)
	if info.kind == KindBuffer {
		b, ok := info.open(opBufferMut, e, true)
		if !ok {
			return false
		}
		h := b.writable(op)
		eachEntity(info.links, info.spill.Elements(h), h.Len(), uintptr(info.shape.Element), visit)
		return true
	}
	if info.kind == KindShared {
		// errors.md, Types, terms and handles: `... is a shared type, whose entities are not to be
		// replaced` | A defect of package scene. | Report it.
		panic(fmt.Sprintf("ecs: %s: %s is a shared type, whose entities are not to be replaced", op, info.name))
	}
	p := info.anyValue(op, e)
	if p != nil {
		eachEntity(info.links, p, 1, 0, visit)
	}
	return p != nil
}

// setEnabled sets e's enable bit of a type.
func (w *World) setEnabled(op string, e Entity, t Type, on bool) bool {
	info := infoOf(op, t)
	w.checkOwn(op, info)
	if info.kind == KindSparse {
		return info.switchSparse(op, e, on)
	}
	return info.own().sight().Switch(entity.ID(e), on)
}

// enabledOf reports whether e has a type, enabled.
func (w *World) enabledOf(op string, e Entity, t Type) bool {
	info := infoOf(op, t)
	w.checkOwn(op, info)
	if info.kind == KindSparse {
		at := info.entryOf(op, e)
		return at != 0 && info.sparse.Enabled(at)
	}
	return handle{info}.Enabled(e)
}

// setTag gives a world that has no entities the tag with a number, which others may have too.
func (w *World) setTag(op string, number uint32) {
	if w.closed || w.rows.Created != 0 || w.ids.Records() > 0 || w.ids.Promised() > 0 || w.history != nil {
		// errors.md, Types, terms and handles: `the world has had entities, or is closed` | A
		// function that registers types for a bakery made entities. | Register types there.
		panic("ecs: " + op + ": the world has had entities, or is closed")
	}
	w.ids.Apart(0) // what is made of this world does not depend on others
	to := entity.TagOf(number)
	if own := w.ids.Tag(); own != to {
		tags.Give(own)
		tags.Share(to)
		w.ids.SetTag(to)
		w.show(w.ids.View())
	}
}
