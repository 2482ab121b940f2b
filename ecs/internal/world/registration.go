package world

import (
	"reflect"

	"quarry/ecs/internal/value"
	"quarry/internal/growth"
)

// The part of a registration that follows from the Go type, before options.

// ComponentOf returns the registration of a component that follows from the Go type.
func ComponentOf(t reflect.Type) *Type {
	return &Type{Go: t, Name: ShortName(t), Lookup: Lookup{Size: int(t.Size())}, Align: t.Align()}
}

// BufferOf returns the registration of a buffer that follows from the type of its elements, before
// its options.
func BufferOf(t reflect.Type) *Type {
	size := int(t.Size())
	return &Type{Go: t, Name: "[]" + ShortName(t), Kind: KindBuffer,
		Lookup: Lookup{Shape: value.Shape{Element: size, Inline: value.InlineBytes / size, Growth: growth.Doubling()}}}
}

// PlaceInline sets the size and the alignment of a buffer's column, whose options are known: a
// header and the inline elements.
func (t *Type) PlaceInline() {
	t.Align = max(t.Go.Align(), value.HeaderAlign)
	t.Size = (value.HeaderSize + t.Shape.Inline*t.Shape.Element + t.Align - 1) &^ (t.Align - 1)
}

// SparseOf returns the registration of a sparse type that follows from the Go type.
func SparseOf(t reflect.Type) *Type {
	info := ComponentOf(t)
	info.Kind, info.Name, info.Sparse = KindSparse, "sparse "+info.Name, &SparseSet{}
	return info
}
