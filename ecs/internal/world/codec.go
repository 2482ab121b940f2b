package world

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"unsafe"
)

// Codecs of Go values. Values of managed and shared types lie in Go memory, so files and deltas
// have them as bytes that a codec makes:
//
//	Codec(encode, decode)       the functions of the option
//	encoding.BinaryMarshaler    and BinaryUnmarshaler, or BinaryAppender: the methods of T or *T;
//	                            of a T that is a pointer a byte first, 0 for nil, 1
//	shared types                without pointers and interfaces: their parts, see description.go
//
// An explicit codec goes first; parts go before methods, so that people can read them in a file. A
// codec that panics, as decoders of other bytes do, gives an error.

// methodCodec returns the codec of a managed or shared type without the option: that of its
// methods, or nil.
func (t *Type) methodCodec() *ValueCodec {
	if t.Kind == KindShared && isPlain(t.Go) {
		return nil
	}
	of := t.Go
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	pointer := reflect.PointerTo(of)
	appends := pointer.Implements(reflect.TypeFor[encoding.BinaryAppender]())
	if of.Kind() == reflect.Interface || !pointer.Implements(reflect.TypeFor[encoding.BinaryUnmarshaler]()) ||
		!appends && !pointer.Implements(reflect.TypeFor[encoding.BinaryMarshaler]()) {
		return nil
	}
	write, read := marshalAt(of, appends), unmarshalAt
	if of == t.Go {
		return &ValueCodec{Append: write, Read: read}
	}
	return &ValueCodec{
		Append: func(b []byte, p unsafe.Pointer) ([]byte, error) {
			if p = *(*unsafe.Pointer)(p); p == nil { // Safe because the value is a pointer.
				return append(b, 0), nil
			}
			return write(append(b, 1), p)
		},
		Read: func(b []byte, p unsafe.Pointer, t reflect.Type) error {
			switch {
			case len(b) == 1 && b[0] == 0:
				return nil
			case len(b) == 0 || b[0] != 1:
				return errors.New("its first byte is neither 0 nor 1")
			}
			to := reflect.New(of)
			reflect.NewAt(t, p).Elem().Set(to) // Safe because p points to a value of t.
			return unmarshalAt(b[1:], to.UnsafePointer(), of)
		},
	}
}

// marshalAt returns the function that appends what a method of the value makes.
func marshalAt(of reflect.Type, appends bool) func(b []byte, p unsafe.Pointer) ([]byte, error) {
	return func(b []byte, p unsafe.Pointer) ([]byte, error) {
		v := reflect.NewAt(of, p).Interface() // Safe because p points to a value of the type.
		if appends {
			return v.(encoding.BinaryAppender).AppendBinary(b)
		}
		made, err := v.(encoding.BinaryMarshaler).MarshalBinary()
		return append(b, made...), err
	}
}

// unmarshalAt calls the method of the value.
func unmarshalAt(b []byte, p unsafe.Pointer, of reflect.Type) error {
	// Safe because p points to a value of the type.
	return reflect.NewAt(of, p).Interface().(encoding.BinaryUnmarshaler).UnmarshalBinary(b)
}

// isPlain reports whether values of a Go type consist of numbers and texts.
func isPlain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return isPlain(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if !isPlain(f.Type) {
				return false
			}
		}
	case reflect.Pointer, reflect.Interface, reflect.Chan, reflect.UnsafePointer, reflect.Func, reflect.Map,
		reflect.Slice:
		return false
	}
	return true
}

// ErrNoCodec is the error of a type whose values cannot be encoded.
var ErrNoCodec = errors.New(
	"it has no codec: register it with ecs.Codec, or make it an encoding.BinaryMarshaler and BinaryUnmarshaler")

// EncodeValue returns the bytes of the value at p, in the memory of b if they fit.
func (t *Type) EncodeValue(b []byte, p unsafe.Pointer) (all []byte, err error) {
	switch {
	case t.Codec != nil:
		defer caught(&err)
		return t.Codec.Append(b[:0], p)
	case t.Kind == KindManaged || !isPlain(t.Go):
		return nil, ErrNoCodec
	}
	return appendShared(b[:0], p, t.Go)
}

// DecodeValue decodes bytes into the zero value at p; a codec wrote them if coded is set.
func (t *Type) DecodeValue(b []byte, p unsafe.Pointer, coded bool) (err error) {
	if coded {
		if t.Codec == nil {
			return ErrNoCodec
		}
		defer caught(&err)
		return t.Codec.Read(b, p, t.Go)
	}
	rest, err := ReadShared(b, p, t.Go)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d bytes follow it", len(rest))
	}
	return err
}

// caught makes a panic of a codec an error.
func caught(err *error) {
	switch x := recover().(type) {
	case nil:
	case error:
		*err = fmt.Errorf("its codec panics: %w", x)
	default:
		*err = fmt.Errorf("its codec panics: %v", x)
	}
}

// encodeShared returns a shared value of a type as bytes.
func (t *Type) encodeShared(v any) ([]byte, error) {
	p := reflect.New(t.Go)
	if v != nil {
		p.Elem().Set(reflect.ValueOf(v))
	}
	all, err := t.EncodeValue(nil, p.UnsafePointer())
	if err != nil {
		return nil, fmt.Errorf("a value of the shared type %s cannot be written: %w", t.Name, err)
	}
	return all, nil
}

// EncodeForDelta is encodeShared for a delta, which names an archetype by its values: they must be
// equal to what their bytes are decoded to, unlike pointers.
func (t *Type) EncodeForDelta(v any) ([]byte, error) {
	all, err := t.encodeShared(v)
	if err != nil || t.Codec == nil {
		return all, err
	}
	again, err := t.DecodeShared(all, true)
	if err == nil && again != v {
		err = fmt.Errorf("a value of the shared type %s cannot be written: decoded it is another value, by ==", t.Name)
	}
	return all, err
}

// ImageAgain is a shared value of a type, as it is decoded.
type ImageAgain struct {
	t *Type
	v any
}

// EncodeForImage is encodeShared for a file, which distinguishes archetypes by their values: those
// of a type must be different ones when they are decoded. again has the decoded ones.
func (t *Type) EncodeForImage(v any, again map[ImageAgain]bool) ([]byte, error) {
	all, err := t.encodeShared(v)
	if err != nil || t.Codec == nil {
		return all, err
	}
	back, err := t.DecodeShared(all, true)
	if err == nil && again[ImageAgain{t, back}] {
		err = errors.New("decoded it is the same as another one")
	}
	if err != nil {
		return nil, fmt.Errorf("a value of the shared type %s cannot be written: %w", t.Name, err)
	}
	again[ImageAgain{t, back}] = true
	return all, nil
}

// DecodeShared returns the value that encodeShared has written.
func (t *Type) DecodeShared(from []byte, coded bool) (any, error) {
	p := reflect.New(t.Go)
	err := t.DecodeValue(from, p.UnsafePointer(), coded)
	if err == nil && !p.Elem().Comparable() {
		err = errors.New("it cannot be compared")
	}
	if err != nil {
		return nil, fmt.Errorf("a value of the shared type %s: %w", t.Name, err)
	}
	return p.Elem().Interface(), nil
}
