package world

import "reflect"

// ComponentOf returns what the type itself says of the registration of a component.
func ComponentOf(t reflect.Type) *Type {
	return &Type{Go: t, Name: ShortName(t), Finder: Finder{Size: int(t.Size())}, Align: t.Align()}
}
