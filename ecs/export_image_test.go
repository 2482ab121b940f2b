package ecs

import (
	"reflect"
	"unsafe"
)

// ConvertValues makes n values of one Go type those of another as world files are converted, field
// by field. renamed gives the names of fields in the new type. The error is that of a file whose
// type cannot become the other.
func ConvertValues(to, from reflect.Type, renamed func(string) string, values unsafe.Pointer, n int) (reflect.Value, error) {
	then, now := imageType{whole: int(from.Size())}, imageType{whole: int(to.Size())}
	then.addFields("", from, 0)
	now.addFields("", to, 0)
	moves, _, same, err := then.moves(&now, func(name string) (string, error) { return renamed(name), nil })
	if err != nil {
		return reflect.Value{}, err
	}
	made := reflect.MakeSlice(reflect.SliceOf(to), n, n)
	s := stretch{made.UnsafePointer(), values, now.whole, then.whole, n}
	if same {
		s.moveBytes(s.toSize)
	} else {
		s.convert(moves)
	}
	return made, nil
}
