package layout

import (
	"fmt"
	"reflect"
)

// PointerError reports that a type holds a Go pointer, and where.
type PointerError struct {
	Type reflect.Type // type that was checked
	Path string       // from the type's name to the offending field: Weapon.Parts[].Name
	Kind string       // type of that field: string, *int, []byte, map[int]bool, ...
}

// Error returns a text such as "Weapon.Name is a string".
func (e *PointerError) Error() string {
	article := "a"
	switch e.Kind[0] {
	case 'i', 'u': // interface, unsafe.Pointer
		article = "an"
	}
	return fmt.Sprintf("%s is %s %s", e.Path, article, e.Kind)
}

// PointerFree returns nil when no value of type t holds a Go pointer, and otherwise a *PointerError
// with the path to the first one. Memory outside the Go heap must not hold Go pointers: the garbage
// collector does not see them and frees what they point to. A uintptr is allowed, since it keeps
// nothing alive anywhere. PointerFree panics when t is nil. Cost: one walk over the type.
func PointerFree(t reflect.Type) error {
	if t == nil {
		panic("layout: PointerFree: the type is nil")
	}
	path, kind := findPointer(t, typeName(t))
	if kind == "" {
		return nil
	}
	return &PointerError{Type: t, Path: path, Kind: kind}
}

// pointerFree is the question whether T is free of pointers.
type pointerFree[T any] struct{}

var pointerFrees known

// PointerFreeFor is PointerFree for T, for frequent callers: it records the types that are
// pointer-free. Cost for recorded types: a search in a list of the first 16, 1 to 5 ns, then a map
// lookup.
func PointerFreeFor[T any]() error {
	if isKnown[pointerFree[T]](&pointerFrees) {
		return nil
	}
	question := any(pointerFree[T]{})
	if pointerFrees.has(question) {
		return nil
	}
	err := PointerFree(reflect.TypeFor[T]())
	if err == nil {
		pointerFrees.add(question)
	}
	return err
}

func findPointer(t reflect.Type, path string) (where, kind string) {
	switch t.Kind() {
	case reflect.Bool, reflect.Uintptr,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return "", ""
	case reflect.Array:
		if t.Len() == 0 {
			return "", ""
		}
		return findPointer(t.Elem(), path+"[]")
	case reflect.Struct:
		for f := range t.Fields() {
			if where, kind = findPointer(f.Type, path+"."+f.Name); kind != "" {
				return where, kind
			}
		}
		return "", ""
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return path, "interface"
		}
		return path, "interface " + t.String()
	case reflect.String:
		return path, "string"
	case reflect.UnsafePointer:
		return path, "unsafe.Pointer"
	default: // pointer, slice, map, channel, function
		return path, t.String()
	}
}

func typeName(t reflect.Type) string {
	if t.Name() != "" {
		return t.Name()
	}
	return t.String()
}
