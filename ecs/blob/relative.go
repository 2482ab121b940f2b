package blob

import (
	"reflect"
	"unsafe"
)

// noCopy makes go vet's copylocks report copies: a relative field that leaves its blob leads
// nowhere.
type noCopy struct{}

// Lock makes go vet take a noCopy for a lock.
func (*noCopy) Lock() {}

// Unlock makes go vet take a noCopy for a lock.
func (*noCopy) Unlock() {}

// A span is the 8 bytes of a relative field: n elements, offset bytes from the field's own address.
// n is 0 for none. In a Builder it is ^i for link i, and all readers take a negative n for none.
type byteRange struct{ offset, n int32 }

// data returns the first element, or nil.
func (s *byteRange) data() unsafe.Pointer {
	if s.n <= 0 {
		return nil
	}
	return unsafe.Add(unsafe.Pointer(s), s.offset) // Safe because the Store has checked that offset stays in the block.
}

// linkKind is the form of a relative field.
type linkKind uint8

const (
	kindArray linkKind = iota
	kindString
	kindRef
	kindGroup // not a field but a Go array of structs that have some
)

// relativeField is implemented by pointers to Array, String and Ref.
type relativeField interface {
	// target returns the kind of the field and the type of its elements.
	target() (linkKind, reflect.Type)
}

// Array is an array of E inside a blob, a field of 8 B. E may be any type without Go pointers and
// entities, and may have arrays, strings and references of its own. An Array must not be copied out
// of the blob (go vet reports it).
type Array[E any] struct {
	_    noCopy
	span byteRange
}

// Len returns the number of elements; 0 while the array is in a Builder.
func (a *Array[E]) Len() int { return max(0, int(a.span.n)) }

// Slice returns the elements, for reading, or nil if there are none or the array is in a Builder.
// It is good as long as the pointer of Blob.Get that led to it. Cost: an addition.
func (a *Array[E]) Slice() []E {
	// Safe because the Store has checked that n elements of E lie there.
	return unsafe.Slice((*E)(a.span.data()), max(0, a.span.n))
}

func (*Array[E]) target() (linkKind, reflect.Type) { return kindArray, reflect.TypeFor[E]() }

// String is a text inside a blob, a field of 8 B. It must not be copied out of the blob (go vet
// reports it).
type String struct {
	_    noCopy
	span byteRange
}

// Len returns the number of bytes; 0 while the text is in a Builder.
func (s *String) Len() int { return max(0, int(s.span.n)) }

// String returns a copy of the text, which may be kept. Cost: an allocation; see Bytes.
func (s *String) String() string { return string(s.Bytes()) }

// Bytes returns the text without copying, for reading. It is good as long as the pointer of
// Blob.Get that led to it.
func (s *String) Bytes() []byte {
	// Safe because the Store has checked that n bytes lie there.
	return unsafe.Slice((*byte)(s.span.data()), max(0, s.span.n))
}

func (*String) target() (linkKind, reflect.Type) { return kindString, reflect.TypeFor[byte]() }

// Ref is a reference to an E in the same blob, or to none: a field of 8 B. Several may lead to one
// E, also to one that holds them. A Ref must not be copied out of the blob (go vet reports it).
type Ref[E any] struct {
	_    noCopy
	span byteRange
}

// Get returns the E, for reading, or nil if there is none or the reference is in a Builder. It is
// good as long as the pointer of Blob.Get that led to it.
func (r *Ref[E]) Get() *E {
	return (*E)(r.span.data()) // Safe because the Store has checked that an E lies there.
}

func (*Ref[E]) target() (linkKind, reflect.Type) { return kindRef, reflect.TypeFor[E]() }
