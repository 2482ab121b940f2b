package layout

import (
	"fmt"
	"reflect"
	"unsafe"
)

// Number is the constraint on the elements of a column of numbers.
type Number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// pair is a question that Flat answers, as a type without a value. Testing a value for this type
// compares two words, where comparing two reflect.Types makes two calls.
type pair[F Number, T any] struct{}

// flats holds the pairs for which Flat has answered yes.
var flats known

// checkFlat panics unless a column of T is a column of F.
func checkFlat[F Number, T any]() {
	question := any(pair[F, T]{})
	if flats.has(question) {
		return
	}
	if err := isFlat(reflect.TypeFor[T](), reflect.TypeFor[F]()); err != nil {
		panic("layout: Flat: " + err.Error())
	}
	flats.add(question)
}

// Flat returns a column of structs as a slice of the numbers that the structs consist of, for
// kernels on numbers: n values of struct{X, Y float32} become 2n float32. Both slices share their
// memory. Flat panics, and names the path to the field, when T holds anything but F, or padding.
// Cost: a search in a list of the first 16 pairs of types, then a map lookup.
func Flat[F Number, T any](column []T) []F {
	if !isKnown[pair[F, T]](&flats) {
		checkFlat[F, T]()
	}
	var (
		f F
		t T
	)
	// Safe because T consists of whole values of F and nothing else, so the column's bytes are
	// len*size/size values of F, aligned as T's first field.
	return unsafe.Slice((*F)(unsafe.Pointer(unsafe.SliceData(column))),
		len(column)*int(unsafe.Sizeof(t)/unsafe.Sizeof(f)))
}

// isFlat returns nil when a value of type t consists of whole values of type number, without
// padding.
func isFlat(t, number reflect.Type) error {
	if t.Size() == 0 {
		return fmt.Errorf("%s has 0 bytes, 0 of them %ss", typeName(t), number)
	}
	at, err := flatFrom(t, number, typeName(t), 0)
	if err == nil && at != t.Size() {
		return fmt.Errorf("%s has %d bytes, %d of them %ss", typeName(t), t.Size(), at, number)
	}
	return err
}

// flatFrom walks t, which begins at offset at, and returns the end of its last number.
func flatFrom(t, number reflect.Type, path string, at uintptr) (uintptr, error) {
	if t == number {
		return at + t.Size(), nil
	}
	var err error
	switch t.Kind() {
	case reflect.Array:
		if t.Size() == 0 {
			return at, nil
		}
		// All elements are alike: if one has no padding at its end, none has.
		end, err := flatFrom(t.Elem(), number, path+"[]", at)
		if err == nil && end != at+t.Elem().Size() {
			err = fmt.Errorf("%s[] ends in %d bytes of padding", path, at+t.Elem().Size()-end)
		}
		return at + t.Size(), err
	case reflect.Struct:
		start := at
		for f := range t.Fields() {
			if start+f.Offset != at {
				return at, fmt.Errorf("%s.%s is preceded by %d bytes of padding", path, f.Name, start+f.Offset-at)
			}
			if at, err = flatFrom(f.Type, number, path+"."+f.Name, at); err != nil {
				return at, err
			}
		}
		return at, nil
	}
	return at, fmt.Errorf("%s is a %s, not a %s", path, t, number)
}
