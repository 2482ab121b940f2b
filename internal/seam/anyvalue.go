package seam

import "quarry/ecs"

// SetValue makes e's value of a type what v says: a value of the Go type, or a slice of elements
// for a buffer. It marks the value changed, and returns false if e is not alive or lacks the type.
// A shared value moves the row, so it is a structural change. The error is a *ecs.LimitError. It
// panics for a v of another Go type.
func SetValue(w *ecs.World, e ecs.Entity, t ecs.Type, v any) (bool, error) {
	return ecs.Inside(key).SetValue(w, e, t, v)
}

// SharedOf is ecs.Shared.Of for code that knows no Go type; v is a value of the Go type.
func SharedOf(w *ecs.World, t ecs.Type, v any) ecs.SharedValue {
	return ecs.Inside(key).SharedOf(w, t, v)
}

// VisitLinks calls visit for each entity in e's value of a type, in the order of its fields and
// elements; visit may replace it. The value is marked changed. It returns false if e is not alive
// or lacks the type, and panics for a shared type.
func VisitLinks(w *ecs.World, e ecs.Entity, t ecs.Type, visit func(*ecs.Entity)) bool {
	return ecs.Inside(key).VisitLinks(w, e, t, visit)
}

// SetEnabled enables or disables e's value of a type with the option Enableable. It returns false
// if e is not alive or lacks the type.
func SetEnabled(w *ecs.World, e ecs.Entity, t ecs.Type, on bool) bool {
	return ecs.Inside(key).SetEnabled(w, e, t, on)
}

// Enabled reports whether e has a type, enabled.
func Enabled(w *ecs.World, e ecs.Entity, t ecs.Type) bool { return ecs.Inside(key).Enabled(w, e, t) }

// SetTag gives a world that has had no entities the tag with a number below 16, which another world
// may have too, so that what two programs save of it is the same.
func SetTag(w *ecs.World, number uint32) { ecs.Inside(key).SetTag(w, number) }
