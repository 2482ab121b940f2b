package world

import "reflect"

// SparseOf returns what the type itself says of the registration of a sparse type.
func SparseOf(t reflect.Type) *Type {
	info := ComponentOf(t)
	info.Kind, info.Name, info.Sparse = KindSparse, "sparse "+info.Name, &sparseSet{}
	return info
}
