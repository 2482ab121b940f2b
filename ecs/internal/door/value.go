package door

import (
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/world"
)

// Values of types that are known by their handles alone, for packages scene and command.

// SetValue sets e's value of a type to v: a value of the Go type, or a slice of elements for a
// buffer. It marks the value changed, and returns false if e is not alive or lacks the type. A
// shared value moves the row, so it is a structural change. The error is a *ecs.LimitError. It
// panics for a v of another Go type.
func SetValue(w *ecs.World, e ecs.Entity, t ecs.Type, v any) (bool, error) {
	const op = "door.SetValue"
	return edit.SetAny(World(w), op, entity.ID(e), typeOf(op, t), v)
}

// ColumnOf returns where the values of a component lie for rows, which it marks changed as
// Component.Slice does.
func ColumnOf(t ecs.Type, rows ecs.Rows) unsafe.Pointer {
	const op = "door.ColumnOf"
	of, r := typeOf(op, t), *(*query.Rows)(unsafe.Pointer(&rows)) // Safe because a Rows is its core.
	first := uintptr(r.Check(op).First) * uintptr(of.Size)
	return unsafe.Add(r.Column(of, op), first) // Safe because the chunk has the rows.
}

// Mut is Component.Mut for code that knows no Go type.
func Mut(t ecs.Type, e ecs.Entity) unsafe.Pointer {
	return typeOf("door.Mut", t).Mut(world.OpMut, entity.ID(e))
}

// BuffersOf returns the buffers of rows, in their order, which it marks changed as Buffer.At does.
func BuffersOf(t ecs.Type, rows ecs.Rows) world.BufferColumn {
	const op = "door.BuffersOf"
	of, r := typeOf(op, t), *(*query.Rows)(unsafe.Pointer(&rows)) // Safe because a Rows is its core.
	first := uintptr(r.Check(op).First) * uintptr(of.Size)
	return of.BuffersAt(unsafe.Add(r.Column(of, op), first)) // Safe because the chunk has the rows.
}

// SharedOf is ecs.Shared.Of for code that knows no Go type; v is a value of the Go type.
func SharedOf(w *ecs.World, t ecs.Type, v any) ecs.SharedValue {
	const op = "door.SharedOf"
	shared := World(w).SharedOf(op, typeOf(op, t), v)
	return *(*ecs.SharedValue)(unsafe.Pointer(&shared)) // Safe because a SharedValue is its core.
}

// VisitLinks calls visit for each entity in e's value of a type, in the order of its fields and
// elements; visit may replace it. The value is marked changed. It returns false if e is not alive
// or lacks the type, and panics for a shared type.
func VisitLinks(w *ecs.World, e ecs.Entity, t ecs.Type, visit func(*ecs.Entity)) bool {
	const op = "door.VisitLinks"
	ids := *(*func(*entity.ID))(unsafe.Pointer(&visit)) // Safe because an Entity is an ID.
	return World(w).VisitLinks(op, entity.ID(e), typeOf(op, t), ids)
}

// SetEnabled enables or disables e's value of a type with the option Enableable. It returns false
// if e is not alive or lacks the type.
func SetEnabled(w *ecs.World, e ecs.Entity, t ecs.Type, on bool) bool {
	const op = "door.SetEnabled"
	return World(w).SetEnabled(op, entity.ID(e), typeOf(op, t), on)
}

// Enabled reports whether e has a type, enabled.
func Enabled(w *ecs.World, e ecs.Entity, t ecs.Type) bool {
	const op = "door.Enabled"
	return World(w).EnabledOf(op, entity.ID(e), typeOf(op, t))
}

// SetTag gives a world that has had no entities the tag with a number below 16, which another world
// may have too, so that what two programs save of it is the same.
func SetTag(w *ecs.World, number uint32) { World(w).SetTag("door.SetTag", number) }
