package ecs

import (
	"reflect"
	"unsafe"

	"quarry/ecs/internal/worldfile"
)

// ConvertValues makes n values of one Go type those of another as world files are converted, field
// by field. renamed gives the names of fields in the new type. The error is that of a file whose
// type cannot become the other.
func ConvertValues(to, from reflect.Type, renamed func(string) string, values unsafe.Pointer, n int) (reflect.Value, error) {
	then, now := worldfile.ImageType{Whole: int(from.Size())}, worldfile.ImageType{Whole: int(to.Size())}
	then.AddFields("", from, 0)
	now.AddFields("", to, 0)
	moves, _, same, err := then.Moves(&now, func(name string) (string, error) { return renamed(name), nil })
	if err != nil {
		return reflect.Value{}, err
	}
	made := reflect.MakeSlice(reflect.SliceOf(to), n, n)
	s := worldfile.Stretch{To: made.UnsafePointer(), From: values, ToSize: now.Whole, FromSize: then.Whole, N: n}
	if same {
		s.MoveBytes(s.ToSize)
	} else {
		s.Convert(moves)
	}
	return made, nil
}
