package ecs

import (
	"fmt"
	"reflect"
	"unsafe"

	"quarry/ecs/internal/world"
)

// Codec is the option of managed and shared types by which world files, and deltas of shared
// values, have their values: encode appends the bytes of a value to b and returns the result,
// decode makes a zero value what encode wrote. Without it a type's methods do that, if T or *T is
// an encoding.BinaryAppender or BinaryMarshaler and an encoding.BinaryUnmarshaler. Shared types of
// numbers and texts need neither. A managed type whose values no file is to have gets an encode
// that appends nothing; two shared values that are decoded to the same one are an error of the
// save.
//
// encode is called once for each row with a value, by the goroutine that saves: the owner if a
// world is saved, else any, several at once if several save. It changes nothing. Equal states make
// equal files if it appends the same bytes for the same value, so one that goes through a map sorts
// the keys. What values share by pointers is written for each, and no longer shared afterwards.
// decode is called by the goroutine that opens a file, before the world has entities to look up,
// and for shared values by the goroutine that saves too, to compare them; it copies what it keeps
// of b. Neither makes a structural change of the world, which refuses it. An error or a panic of
// either ends the call with an error that names the type and the entity: no byte is written, no
// world is made.
//
// Codec panics if a function is nil, and RegisterManaged or RegisterShared if the functions are of
// another type. A type that is registered again keeps its first codec.
func Codec[T any](encode func(b []byte, v *T) ([]byte, error), decode func(b []byte, v *T) error) TypeOption {
	if encode == nil || decode == nil {
		panic("ecs: Codec: a function is nil")
	}
	return func(r *registration) {
		t := r.inner()
		switch of := reflect.TypeFor[T](); {
		case !t.GoValues():
			panic(fmt.Sprintf("ecs: Register[%s]: Codec is an option of RegisterManaged and RegisterShared", t.Name))
		case of != t.Go:
			panic(fmt.Sprintf("ecs: Register[%s]: Codec is of %s", t.Name, world.ShortName(of)))
		}
		// Safe because callers pass pointers to values of the type.
		t.Codec = &world.ValueCodec{Given: true,
			Append: func(b []byte, p unsafe.Pointer) ([]byte, error) { return encode(b, (*T)(p)) },
			Read:   func(b []byte, p unsafe.Pointer, _ reflect.Type) error { return decode(b, (*T)(p)) }}
	}
}
