package world

import "quarry/ecs/internal/value"

// SharedValue is ecs.SharedValue.
type SharedValue struct {
	Type  *Type
	Value *value.Shared
}

// String is ecs.SharedValue.String.
func (v SharedValue) String() string {
	if v.Value == nil {
		return "no value"
	}
	return v.Type.textOf(v.Value)
}

// LenOf returns the number of entities that have the value.
func (w *World) LenOf(v *value.Shared) (n int) {
	for _, set := range w.Index.Sharers(v.Serial) {
		n += whole(set).Table.Store.Len()
	}
	return n
}
