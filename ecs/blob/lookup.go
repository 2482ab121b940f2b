package blob

import (
	"reflect"

	"quarry/ecs"
)

// Lookup reads blobs with root T in the body of a job, or in another goroutine of a borrow.
type Lookup[T any] struct {
	words  ecs.BufferLookup[word]
	number uint64
}

// NewLookup returns a Lookup for an accessor's goroutine: in a body, that of job.Ctx.Accessor, of a
// job that Uses(ecs.Read(s.Type())). It panics like Component.Lookup, and if T is not a type of the
// store. It may be called in any goroutine of the borrow. Cost: a few nanoseconds.
func NewLookup[T any](s *Store, r *ecs.Accessor) Lookup[T] {
	if s == nil {
		noStore("NewLookup")
	}
	if r == nil {
		panic("blob: NewLookup: the accessor is nil")
	}
	t := reflect.TypeFor[T]()
	number := s.number(t)
	if number == 0 {
		panic("blob: NewLookup: " + shortName(t) + " is not a type of the store")
	}
	return Lookup[T]{s.words.Lookup(r), number}
}

// Get is Blob.Get. The pointer is good at least until the borrow ends.
func (l Lookup[T]) Get(b Blob[T]) *T {
	d, ok := l.words.Get(b.entity)
	if !ok {
		return nil
	}
	return (*T)(root(d.Slice(), l.number)) // Safe because blocks with the number have a T there.
}
